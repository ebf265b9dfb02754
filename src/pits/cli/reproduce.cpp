// pits reproduce: every table and figure of the paper, our numbers beside the paper's.
#include <fmt/format.h>

#include "pits/cli/commands.h"
#include "pits/cli/device.h"
#include "pits/cli/execute.h"
#include "pits/cli/options.h"
#include "pits/cli/terminal.h"
#include "pits/core/machine.h"
#include "pits/report/figures.h"
#include "pits/report/reproduction_report.h"

namespace pits::cli {
namespace {

constexpr std::int64_t paper_realizations = 50;
constexpr std::int64_t quick_realizations = 3;

struct ReproduceOptions {
  std::string out, data_dir;
  std::vector<std::string> only;
  std::optional<std::int64_t> realizations;
  std::int64_t steps = 2000;
  std::int64_t seed = 0;
  std::int64_t threads = 0;
  DeviceOptions device;
  bool quick = false;
  bool resume = false;
  bool json = false;
};

std::vector<std::string> names_in(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    for (std::size_t start = 0; start <= word.size();) {
      const std::size_t end = std::min(word.find(',', start), word.size());
      names.push_back(word.substr(start, end - start));
      start = end + 1;
    }
  }
  return names;
}

// A section, its plan, and the directory its cells go to.
struct Work {
  Section section;
  std::unique_ptr<Plan> plan;
  std::unique_ptr<RunDirectory> directory{};  // the leader's
};

// All plans are made before anything is written, so that a damaged file is found at once.
std::vector<Work> make_plans(std::vector<Section> sections, const ReproduceConfig& config) {
  std::vector<Work> list;
  for (Section& section : sections) {
    auto plan = std::make_unique<Plan>(section_config(section, config));
    list.push_back({.section = std::move(section), .plan = std::move(plan)});
  }
  return list;
}

void open_directories(std::vector<Work>& list, const ReproduceOptions& options, const nlohmann::ordered_json& origin) {
  if (!options.resume && std::filesystem::exists(std::filesystem::path(options.out) / "reproduction.json")) {
    throw bad_input("'{}' already holds a reproduction; --resume goes on with it or adds to it", options.out);
  }
  if (std::filesystem::exists(std::filesystem::path(options.out) / "run.json")) {
    throw bad_input("'{}' holds a run of pits run; choose another --out", options.out);
  }
  for (Work& work : list) {
    const std::filesystem::path path = std::filesystem::path(options.out) / work.section.id;
    work.directory = options.resume ? RunDirectory::resume(path, *work.plan, origin)
                                    : RunDirectory::create(path, *work.plan, origin);
  }
}

void say_missing(const std::vector<MissingData>& missing) {
  for (const MissingData& m : missing) fmt::print(stderr, "Leaving out {}: {}\n", m.environment, m.reason);
}

void run_all(Executor& executor, std::vector<Work>& list, int threads) {
  std::size_t total = 0, finished = 0;
  for (const Work& work : list) {
    total += all_rounds(*work.plan);
    finished += finished_rounds(*work.plan, *work.directory);
  }
  const ShownProgress progress(total, finished);
  for (Work& work : list) {
    executor.run(*work.plan, work.directory.get(), threads, stop_flag(), [&](std::size_t n) { progress.add(n); });
  }
}

// What this call ran, beside what DIR held before.
Reproduction finish(std::vector<Work> list, const std::vector<MissingData>& missing, const std::filesystem::path& out) {
  std::vector<Section> sections;
  for (Work& work : list) {
    write_outcome(*work.directory, *work.plan, summarise(*work.plan, *work.directory));
    work.directory.reset();  // unlocked, to be read again
    sections.push_back(work.section);
  }
  add_holdings(out, sections, missing);
  Reproduction r = load_reproduction(out);
  write_reproduction(out, r);
  return r;
}

// The results are there already: a browser that fails costs the files of the figures, not the run.
void draw_figures(const std::filesystem::path& out) {
  constexpr const char* otherwise = "the page's own buttons save its figures as SVG and PNG";
  try {
    if (const auto browser = find_browser()) {
      const std::size_t count = export_figures(*browser, out / "report.html", out / "figures");
      const std::string where = std::filesystem::absolute(out / "figures").string();
      if (count > 0)
        fmt::print(stderr, "{} as SVG and PNG: {}\n", count == 1 ? "1 figure" : fmt::format("{} figures", count),
                   where);
    } else {
      fmt::print(stderr, "No Chromium here: {}.\n", otherwise);
    }
  } catch (const Error& e) {
    fmt::print(stderr, "No files of the figures: {}; {}.\n", e.what(), otherwise);
  }
}

int reproduce(const ReproduceOptions& options, const Words& words, Executor& executor) {
  const int threads = checked_threads(options.threads);
  const PlannedDevice device = planned_device(options.device);
  const ReproduceConfig config{
      .steps = options.steps,
      .realizations = options.realizations.value_or(options.quick ? quick_realizations : paper_realizations),
      .seed = options.seed,
      .data_dir = options.data_dir,
      .device = device.device,
      .precision = device.precision};
  const std::vector<std::string> only = names_in(options.only);
  std::vector<Section> sections = select_sections(only);
  const std::vector<MissingData> missing = drop_missing_data(sections, only, options.data_dir);
  if (sections.empty()) throw bad_input("no data for any of the problems: {}", missing.front().reason);
  if (executor.leads()) say_missing(missing);
  std::vector<Work> list = make_plans(std::move(sections), config);
  for (const Work& work : list) check_device(options.device, *work.plan);
  watch_signals();
  if (!executor.leads()) {
    for (Work& work : list) executor.run(*work.plan, nullptr, threads, stop_flag(), {});
    return 0;
  }
  open_directories(list, options, {{"command", shell_line(words)}, {"machine", machine_line()}});
  try {
    run_all(executor, list, threads);
  } catch (const Interrupted&) {
    fmt::print(stderr, "interrupted; the same command with --resume goes on where this one stopped\n");
    return 130;
  }
  const Reproduction r = finish(std::move(list), missing, options.out);
  draw_figures(options.out);
  print_reproduction(r, options.out, options.json);
  return 0;
}

}  // namespace

std::function<int()> add_reproduce(CLI::App& app, const Words& words, Executor& executor) {
  auto* command = app.add_subcommand("reproduce", "Run the paper's benchmark: every table and figure on one page");
  auto options = std::make_shared<ReproduceOptions>();
  add_text(*command, "--out", options->out, "directory for the page, tables, figures and runs")->required();
  command->add_flag("--quick", options->quick, "3 realizations instead of 50: minutes instead of hours");
  add_whole(*command, "--realizations", options->realizations, "independent repetitions R (default 50)");
  command
      ->add_option("--only", options->only,
                   "some of it: table, box, curves, ablation, linear, posterior, wheel, or problems such as statlog; "
                   "repeat, or separate by commas")
      ->allow_extra_args(false);
  add_whole(*command, "--steps", options->steps, "rounds T (default 2000)");
  add_whole(*command, "--seed", options->seed, "seed of every random draw (default 0)");
  add_device_options(*command, options->device);
  add_whole(*command, "--threads", options->threads,
            "threads (default 0: all of the machine); under mpirun, of each rank");
  add_text(*command, "--data-dir", options->data_dir, "where data files are looked for first, before $PITS_DATA");
  command->add_flag("--resume", options->resume, "go on with what is in --out, or start it");
  command->add_flag("--json", options->json, "one JSON object a line on stdout instead of the tables");
  command->footer("Example:\n  pits reproduce --quick --only ablation --out runs/paper");
  return [options, words, &executor] { return reproduce(*options, words, executor); };
}

}  // namespace pits::cli
