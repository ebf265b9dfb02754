// pits run: agents on environments, a table, and a run directory with a page.
#include <fmt/format.h>

#include "pits/cli/commands.h"
#include "pits/cli/device.h"
#include "pits/cli/execute.h"
#include "pits/cli/options.h"
#include "pits/cli/toml_config.h"
#include "pits/core/machine.h"
#include "pits/report/run_report.h"

namespace pits::cli {
namespace {

struct RunOptions {
  std::string config_file;
  std::vector<std::string> agents, environments, set, set_env;
  std::optional<std::int64_t> steps, realizations, seed;
  std::int64_t threads = 0;
  std::optional<std::string> feedback;
  std::string probe;
  std::string out, data_dir, label, categorical;
  DeviceOptions device;
  bool resume = false;
  bool json = false;
  bool diagnostics = false;
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

// The command line's list in place of the file's, whose settings for what is no longer asked for go with it.
template <class Product, class Setup>
void replace(std::vector<std::string>& specs, const std::vector<std::string>& wanted,
             const std::vector<Entry<Product, Setup>>& catalogue, std::string_view what,
             std::vector<std::string>& settings) {
  if (wanted.empty()) return;
  std::erase_if(settings, [&](const std::string& setting) {
    return applies(setting, catalogue, what, specs) && !applies(setting, catalogue, what, wanted);
  });
  specs = wanted;
}

// The file first, then what the command line says.
ExperimentConfig merged(const RunOptions& options) {
  ExperimentConfig config;
  if (!options.config_file.empty()) read_toml(options.config_file, config);
  const Catalogues known;
  replace(config.agents, options.agents, known.agents, "agent", config.set);
  replace(config.environments, options.environments, known.environments, "environment", config.set_env);
  config.steps = options.steps.value_or(config.steps);
  config.realizations = options.realizations.value_or(config.realizations);
  config.seed = options.seed.value_or(config.seed);
  config.feedback = options.feedback.value_or(config.feedback);
  if (!options.probe.empty()) config.probe = options.probe;
  config.diagnostics = config.diagnostics || options.diagnostics;
  config.data_dir = options.data_dir;
  const PlannedDevice device = planned_device(options.device);
  config.device = device.device;
  config.precision = device.precision;
  config.set.insert(config.set.end(), options.set.begin(), options.set.end());
  config.set_env.insert(config.set_env.end(), options.set_env.begin(), options.set_env.end());
  if (!options.label.empty()) config.set_env.push_back("label=" + options.label);
  if (!options.categorical.empty()) config.set_env.push_back("categorical=" + options.categorical);
  return config;
}

void run_with_progress(Executor& executor, const Plan& plan, Results& results, int threads) {
  const ShownProgress progress(all_rounds(plan), finished_rounds(plan, results));
  watch_signals();
  executor.run(plan, &results, threads, stop_flag(), [&](std::size_t rounds) { progress.add(rounds); });
}

void print_summary(const Plan& plan, const std::vector<SummaryRow>& rows, bool json) {
  if (!json) {
    fmt::print("{}", run_text(plan, rows, colour_on_stdout()));
    return;
  }
  for (const SummaryRow& row : rows) fmt::print("{}\n", summary_line(plan, row, true).dump());
}

int run(const RunOptions& options, const Words& words, Executor& executor) {
  if (options.resume && options.out.empty()) throw bad_usage("--resume needs --out DIR, the run to go on with");
  const int threads = checked_threads(options.threads);
  const Plan plan(merged(options));
  check_device(options.device, plan);
  if (!executor.leads()) {
    watch_signals();
    executor.run(plan, nullptr, threads, stop_flag(), {});
    return 0;
  }
  const nlohmann::ordered_json origin = {{"command", shell_line(words)}, {"machine", machine_line()}};
  std::unique_ptr<RunDirectory> directory;
  if (!options.out.empty()) {
    directory = options.resume ? RunDirectory::resume(options.out, plan, origin)
                               : RunDirectory::create(options.out, plan, origin);
  }
  MemoryResults memory(plan);
  Results& results = directory ? static_cast<Results&>(*directory) : memory;
  try {
    run_with_progress(executor, plan, results, threads);
  } catch (const Interrupted&) {
    fmt::print(stderr, "interrupted{}\n",
               directory ? "; the same command with --resume goes on where this one stopped" : "");
    return 130;
  }
  const std::vector<SummaryRow> rows = summarise(plan, results);
  if (directory) write_outcome(*directory, plan, rows);
  print_summary(plan, rows, options.json);
  if (directory) {
    fmt::print(options.json ? stderr : stdout, "Report: {}\n",
               std::filesystem::absolute(directory->path() / "report.html").string());
  }
  return 0;
}

}  // namespace

std::function<int()> add_run(CLI::App& app, const Words& words, Executor& executor) {
  auto* command = app.add_subcommand("run", "Run agents on environments and report their regret");
  auto options = std::make_shared<RunOptions>();
  const auto many = [&](const char* name, std::vector<std::string>& into, const char* text) {
    command->add_option(name, into, text)->allow_extra_args(false);
  };
  many("--agent", options->agents, "NAME[:PRESET][,field=value...]; repeat for more agents");
  many("--env", options->environments, "NAME[:PRESET][,field=value...]; repeat for more environments");
  add_whole(*command, "--steps", options->steps, "rounds T (default 2000)");
  add_whole(*command, "--realizations", options->realizations, "independent repetitions R (default 10)");
  add_whole(*command, "--seed", options->seed, "seed of every random draw (default 0)");
  add_whole(*command, "--threads", options->threads,
            "threads (default 0: all of the machine); under mpirun, of each rank");
  add_device_options(*command, options->device);
  many("--set", options->set, "AGENT.field=value for every agent of that name");
  many("--set-env", options->set_env, "field=value for the environments that have it, or ENV.field=value");
  command->add_option(
      "--feedback", options->feedback,
      "played or all: whose rewards agents learn after a round, that of the action played (default) or those of all "
      "actions (full information)");
  add_text(*command, "--probe", options->probe,
           "posterior: also compare posteriors with the exact one (linear problems)");
  command->add_flag("--diagnostics", options->diagnostics,
                    "also report the health of particles: how they differ, what keeps them apart, whether rewards fall "
                    "where they predict them (docs/diagnostics.md)");
  add_text(*command, "--label", options->label, "column to guess of --env csv:FILE, by name or number from 1");
  add_text(*command, "--categorical", options->categorical,
           "its categorical columns: auto, none, or names joined by +");
  add_text(*command, "--config", options->config_file, "TOML file (docs/experiments.md); options override it");
  add_text(*command, "--data-dir", options->data_dir, "where data files are looked for first, before $PITS_DATA");
  add_text(*command, "--out", options->out, "run directory for results, curves and the page");
  command->add_flag("--resume", options->resume, "go on with the run in --out, or start it");
  command->add_flag("--json", options->json, "one JSON object a line on stdout instead of the table");
  command->footer(
      "Example:\n  pits run --agent lin-ts --agent pi-ts:released --agent uniform --env linear --realizations 2 "
      "--out runs/linear");
  return [options, words, &executor] { return run(*options, words, executor); };
}

}  // namespace pits::cli
