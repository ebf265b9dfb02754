// pits run: agents on environments, a table, and a run directory with a page.
#include <fmt/format.h>

#include <algorithm>

#include "pits/cli/commands.h"
#include "pits/cli/device.h"
#include "pits/cli/execute.h"
#include "pits/cli/terminal.h"
#include "pits/cli/toml_config.h"
#include "pits/core/parallel.h"
#include "pits/experiment/round_log.h"
#include "pits/report/run_report.h"

namespace pits::cli {
namespace {

struct RunOptions {
  PlanOptions plan{};
  std::string config_file{};
  std::vector<std::string> only{};  // names of [[run]] tables
  std::string log{};                // file for the rounds, for pits evaluate
};

// Whether a setting, "name.field=value" or "field=value", is of one of the things that the specs name.
template <class Product, class Setup>
bool applies(const std::string& setting, const std::vector<Entry<Product, Setup>>& catalogue, std::string_view what,
             const std::vector<std::string>& specs) {
  const std::string target = parse_assignment(setting).first;
  const std::size_t dot = target.find('.');
  return std::ranges::any_of(specs, [&](const std::string& text) {
    const Spec spec = parse_spec(text);
    return dot == std::string::npos ? find_recipe(catalogue, what, spec)->fields().has(target)
                                    : target.substr(0, dot) == spec.name;
  });
}

// The command line's list takes the place of the file's, whose settings for what is no longer asked for go with it.
template <class Product, class Setup>
void make_way(std::vector<std::string>& specs, const std::vector<std::string>& wanted,
              const std::vector<Entry<Product, Setup>>& catalogue, std::string_view what,
              std::vector<std::string>& settings) {
  std::erase_if(settings, [&](const std::string& setting) {
    return applies(setting, catalogue, what, specs) && !applies(setting, catalogue, what, wanted);
  });
  specs.clear();
}

// The file first, then what the command line says.
ExperimentConfig merged(ExperimentConfig config, const FieldOptions& given) {
  const Catalogues known;
  if (given.has("agents")) make_way(config.agents, given.words("agents"), known.agents, "agent", config.set);
  if (given.has("environments")) {
    make_way(config.environments, given.words("environments"), known.environments, "environment", config.set_env);
  }
  given.apply(fields(config));
  return config;
}

// The experiments of the file that --only names, or all.
std::vector<NamedExperiment> asked_experiments(const RunOptions& options) {
  if (options.config_file.empty()) return {{}};
  std::vector<NamedExperiment> all = read_toml(options.config_file);
  std::vector<std::string> names;
  for (const NamedExperiment& one : all) names.push_back(one.name);
  for (const std::string& name : options.only) {
    if (std::ranges::find(names, name) == names.end()) throw unknown_name("run in --only:", name, names);
  }
  if (!options.only.empty()) {
    std::erase_if(all, [&](const NamedExperiment& one) {
      return std::ranges::find(options.only, one.name) == options.only.end();
    });
  }
  if (all.size() > 1 && options.plan.fields.has("environments")) {
    throw bad_usage("--env replaces the problems of one run, and '{}' has {}: choose it by --only NAME",
                    options.config_file, all.size());
  }
  return all;
}

// An experiment, its plan, and where its cells go.
struct Work {
  std::string name;
  std::unique_ptr<Plan> plan;
  std::unique_ptr<RunDirectory> directory{};  // the leader's, with --out
  std::unique_ptr<MemoryResults> memory{};    // else

  Results& results() const { return directory ? static_cast<Results&>(*directory) : *memory; }
};

// --out itself, or a directory in it for each run of a file; nothing is written where one of them holds a run.
void open_directories(std::vector<Work>& list, const PlanOptions& options, const Words& words) {
  const std::filesystem::path out = options.out;
  for (const Work& work : list) {
    if (work.name.empty()) continue;
    if (std::filesystem::exists(out / "run.json")) {
      throw bad_input("'{}' holds a run, not the runs of a file; choose another --out", options.out);
    }
    if (!options.resume && std::filesystem::exists(out / work.name / "run.json")) {
      throw bad_input("'{}' already holds a run; --resume goes on with it", (out / work.name).string());
    }
  }
  for (Work& work : list) {
    const std::filesystem::path place = work.name.empty() ? out : out / work.name;
    work.directory = open_directory(place, options.resume, *work.plan, words);
  }
}

// All plans are made before anything is written.
std::vector<Work> make_work(const RunOptions& options, const Words& words, bool leads) {
  std::vector<Work> list;
  for (const NamedExperiment& one : asked_experiments(options)) {
    const ExperimentConfig config = merged(one.config, options.plan.fields);
    list.push_back({.name = one.name, .plan = std::make_unique<Plan>(plan_on_device(config))});
  }
  if (leads && !options.plan.out.empty()) {
    open_directories(list, options.plan, words);
  } else {
    for (Work& work : list) work.memory = std::make_unique<MemoryResults>(*work.plan);
  }
  return list;
}

void finish(const Work& work, bool json) {
  const Plan& plan = *work.plan;
  const std::vector<SummaryRow> rows = summarise(plan, work.results());
  if (work.directory) write_outcome(*work.directory, plan, rows);
  if (json) {
    for (const SummaryRow& row : rows) fmt::print("{}\n", summary_line(plan, row, true).dump());
  } else {
    fmt::print("{}{}", work.name.empty() ? "" : work.name + "\n\n", run_text(plan, rows, colour_on_stdout()));
  }
  if (work.directory) announce("Report", work.directory->path() / "report.html", json);
  if (!json && !work.name.empty()) fmt::print("\n");
}

// One cell, whose rounds go to a file. Ctrl-C is an Interrupted.
void run_with_log(const std::vector<Work>& list, const std::string& file, int threads) {
  if (list.size() != 1 || list.front().plan->cells() != 1) {
    throw bad_usage("--log writes the rounds of one agent on one problem: give one of each, and --realizations 1");
  }
  const Plan& plan = *list.front().plan;
  watch_signals();
  Progress progress(plan.rounds(plan.cell(0)), 0);
  const ThreadScope scope(threads);
  const InnerThreads inner(scope.threads());
  const Trajectory path = run_logged_cell(plan, plan.cell(0), file, [&](std::size_t n) {
    if (stop_flag()) throw Interrupted();
    progress.add(n);
  });
  progress.finish();
  list.front().results().put(0, path);
}

int run(const RunOptions& options, const Words& words, Executor& executor) {
  const std::string& out = options.plan.out;
  if (options.plan.resume && out.empty()) throw bad_usage("--resume needs --out DIR, the run to go on with");
  if (!options.only.empty() && options.config_file.empty()) throw bad_usage("--only needs --config FILE");
  const int threads = checked_threads(options.plan);
  const std::vector<Work> list = make_work(options, words, executor.leads());
  std::vector<PlannedRun> runs;
  for (const Work& work : list) runs.push_back({work.plan.get(), executor.leads() ? &work.results() : nullptr});
  try {
    if (options.log.empty()) {
      run_plans(executor, runs, threads);
    } else if (executor.leads()) {
      run_with_log(list, options.log, threads);
    }
  } catch (const Interrupted&) {
    note("interrupted{}\n", out.empty() ? "" : "; the same command with --resume goes on where this one stopped");
    return 130;
  }
  if (!executor.leads()) return 0;
  for (const Work& work : list) finish(work, options.plan.json);
  return 0;
}

// Lists first.
void add_fields(CLI::App& command, FieldOptions& options) {
  ExperimentConfig config;
  std::vector<Field> all = fields(config).list();
  std::ranges::stable_partition(all, [](const Field& field) { return field.type == FieldType::texts; });
  for (const Field& field : all) options.add(command, field);
}

}  // namespace

std::function<int()> add_run(CLI::App& app, const Words& words, Executor& executor) {
  auto* command = app.add_subcommand("run", "Run agents on environments and report their regret");
  auto options = std::make_shared<RunOptions>();
  FieldOptions& given = options->plan.fields;
  add_fields(*command, given);
  const auto csv_field = [&given](const std::string& name) {
    return [&given, name](const std::string& word) { given.give("set_env", name + "=" + word); };
  };
  add_text(*command, "--label", csv_field("label"), "column to guess of --env csv:FILE, by name or number from 1");
  add_text(*command, "--categorical", csv_field("categorical"),
           "its categorical columns: auto, none, or names joined by +");
  add_text(*command, "--config", options->config_file, "TOML file (docs/experiments.md); options override it");
  command->add_option("--only", options->only, "some of the [[run]] tables of --config, by name; repeat for more")
      ->allow_extra_args(false);
  add_text(*command, "--log", options->log,
           "file for the rounds of one agent with propensities and mean rewards, as lines of JSON for 'pits evaluate'");
  add_plan_options(*command, options->plan, "run directory for results, curves and the page");
  command->footer(
      "Example:\n  pits run --agent pi-ts --agent lin-ts --agent uniform --env linear --realizations 2 --out "
      "runs/linear");
  return [options, words, &executor] { return run(*options, words, executor); };
}

}  // namespace pits::cli
