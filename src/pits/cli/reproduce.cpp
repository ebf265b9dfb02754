// pits reproduce: every table and figure of the paper, our numbers beside the paper's.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pits/cli/commands.h"
#include "pits/cli/device.h"
#include "pits/cli/execute.h"
#include "pits/cli/terminal.h"
#include "pits/experiment/paper/reproduction_manifest.h"
#include "pits/report/figures.h"
#include "pits/report/reproduction_report.h"

namespace pits::cli {
namespace {

constexpr std::int64_t paper_realizations = 50;
constexpr std::int64_t quick_realizations = 3;

struct ReproduceOptions {
  PlanOptions plan{};
  std::vector<std::string> only{};
  bool quick = false;
};

// The experiment that every section starts from.
ExperimentConfig defaults() { return {.realizations = paper_realizations}; }

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
std::vector<Work> make_plans(std::vector<Section> sections, const ExperimentConfig& config) {
  std::vector<Work> list;
  for (Section& section : sections) {
    auto plan = std::make_unique<Plan>(plan_on_device(section_config(section, config)));
    list.push_back({.section = std::move(section), .plan = std::move(plan)});
  }
  return list;
}

void open_directories(std::vector<Work>& list, const PlanOptions& options, const Words& words) {
  const std::filesystem::path out = options.out;
  if (!options.resume && std::filesystem::exists(out / "reproduction.json")) {
    throw bad_input("'{}' already holds a reproduction; --resume goes on with it or adds to it", options.out);
  }
  if (std::filesystem::exists(out / "run.json")) {
    throw bad_input("'{}' holds a run of pits run; choose another --out", options.out);
  }
  for (Work& work : list) work.directory = open_directory(out / work.section.id, options.resume, *work.plan, words);
}

void say_missing(const std::vector<MissingData>& missing) {
  for (const MissingData& m : missing) note("Leaving out {}: {}\n", m.environment, m.reason);
}

// What this call ran, beside what DIR held before.
Reproduction finish(std::vector<Work> list, const std::vector<MissingData>& missing, const std::filesystem::path& out) {
  std::vector<Section> sections;
  for (Work& work : list) {
    write_outcome(*work.directory, *work.plan, summarise(*work.plan, *work.directory));
    work.directory.reset();  // unlocked, to be read again
    sections.push_back(work.section);
  }
  add_to_manifest(out, sections, missing);
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
      if (count > 0) note("{} as SVG and PNG: {}\n", count == 1 ? "1 figure" : fmt::format("{} figures", count), where);
    } else {
      note("No Chromium here: {}.\n", otherwise);
    }
  } catch (const Error& e) {
    note("No files of the figures: {}; {}.\n", e.what(), otherwise);
  }
}

int reproduce(const ReproduceOptions& options, const Words& words, Executor& executor) {
  const int threads = checked_threads(options.plan);
  ExperimentConfig config = defaults();
  if (options.quick) config.realizations = quick_realizations;
  options.plan.fields.apply(fields(config));
  const std::vector<std::string> only = names_in(options.only);
  std::vector<Section> sections = select_sections(only);
  const std::vector<MissingData> missing = drop_missing_data(sections, only, config.data_dir);
  if (sections.empty()) throw bad_input("no data for any of the problems: {}", missing.front().reason);
  if (executor.leads()) say_missing(missing);
  std::vector<Work> list = make_plans(std::move(sections), config);
  if (executor.leads()) open_directories(list, options.plan, words);
  std::vector<PlannedRun> runs;
  for (const Work& work : list) runs.push_back({work.plan.get(), work.directory.get()});
  try {
    run_plans(executor, runs, threads);
  } catch (const Interrupted&) {
    note("interrupted; the same command with --resume goes on where this one stopped\n");
    return 130;
  }
  if (!executor.leads()) return 0;
  const Reproduction r = finish(std::move(list), missing, options.plan.out);
  draw_figures(options.plan.out);
  print_reproduction(r, options.plan.out, options.plan.json);
  return 0;
}

// The sections say the rest: agents, problems, probes.
bool is_open(const Field& field) {
  constexpr std::array names = {"steps", "realizations", "seed", "device", "precision", "data_dir"};
  return std::ranges::find(names, field.name) != names.end();
}

}  // namespace

std::function<int()> add_reproduce(CLI::App& app, const Words& words, Executor& executor) {
  auto* command = app.add_subcommand("reproduce", "Run the paper's benchmark: every table and figure on one page");
  auto options = std::make_shared<ReproduceOptions>();
  add_plan_options(*command, options->plan, "directory for the page, tables, figures and runs")->required();
  command->add_flag("--quick", options->quick, "3 realizations instead of 50: minutes instead of hours");
  command
      ->add_option("--only", options->only,
                   "some of it: table, box, curves, ablation, linear, posterior, wheel, or problems such as statlog; "
                   "repeat, or separate by commas")
      ->allow_extra_args(false);
  ExperimentConfig config = defaults();
  for (const Field& field : fields(config).list()) {
    if (is_open(field)) options->plan.fields.add(*command, field);
  }
  command->footer("Example:\n  pits reproduce --quick --only ablation --out runs/paper");
  return [options, words, &executor] { return reproduce(*options, words, executor); };
}

}  // namespace pits::cli
