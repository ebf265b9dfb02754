// pits evaluate: what other policies would have earned on a log, with intervals, a table and a page.
#include <fmt/format.h>

#include <cmath>

#include "pits/cli/commands.h"
#include "pits/cli/options.h"
#include "pits/cli/terminal.h"
#include "pits/core/io/files.h"
#include "pits/core/io/text_table.h"
#include "pits/core/parallel.h"
#include "pits/evaluate/evaluation_json.h"
#include "pits/evaluate/read/read_log.h"
#include "pits/experiment/ranks/executor.h"
#include "pits/fleet/lone_lease.h"
#include "pits/report/evaluation_report.h"

namespace pits::cli {
namespace {

struct EvaluateOptions {
  std::string file, out, feature;
  std::string bandit;  // where `file` is the URL of a database
  LogOptions log{};
  EvaluationConfig config{};
  std::string range, actions, estimator, interval;
  int threads = 0;
  bool json = false;
};

RewardRange parse_range(const std::string& text) {
  try {
    return parse_reward_range(text);
  } catch (const Error&) {
    throw bad_usage("--reward-range must be two numbers, LOW,HIGH, as 0,1 is, not '{}'", text);
  }
}

std::vector<std::string> parse_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    names.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return names;
}

// Words into the log's options and the config.
void resolve(EvaluateOptions& options) {
  if (!options.range.empty()) {
    options.config.reward_range = parse_range(options.range);
    options.log.reward_range = options.config.reward_range;
  }
  if (!options.actions.empty()) options.log.actions = parse_names(options.actions);
  if (options.config.policies.empty()) {
    throw bad_usage("say which: --policy uniform, fixed:ACTION, saved:FILE, agent:SPEC or column:NAME");
  }
  if (options.interval == "bootstrap" && options.config.bootstrap == 0) options.config.bootstrap = 1000;
}

TableChoice table_choice(const EvaluateOptions& options) {
  TableChoice choice;
  choice.estimator = options.config.model == "none" ? EstimatorKind::ips : EstimatorKind::dr;
  if (!options.estimator.empty()) parse_value(options.estimator, choice.estimator);
  if (!options.interval.empty()) parse_value(options.interval, choice.interval);
  if (options.config.model == "none" && needs_model(choice.estimator)) {
    throw bad_usage("--estimator {} needs a --model", format_value(choice.estimator));
  }
  if (choice.interval == IntervalKind::bernstein && choice.estimator != EstimatorKind::ips) {
    throw bad_usage("--interval bernstein is one of --estimator ips");
  }
  return choice;
}

// Once the log is read, which may know the range of its rewards.
void choose_interval(TableChoice& choice, const EvaluateOptions& options) {
  if (options.interval.empty() && options.config.reward_range) choice.interval = IntervalKind::sequence;
  const bool needs_range = choice.interval == IntervalKind::sequence || choice.interval == IntervalKind::bernstein;
  if (needs_range && !options.config.reward_range) {
    throw bad_usage("--interval {} needs --reward-range LOW,HIGH: without bounds of the rewards there is none",
                    format_value(choice.interval));
  }
}

// The page is for others to read.
Words without_passwords(Words words) {
  for (std::string& word : words) {
    if (is_postgres_url(word)) word = without_password(word);
  }
  return words;
}

LoggedData read(const EvaluateOptions& options) {
  if (!is_postgres_url(options.file)) {
    if (!options.bandit.empty()) throw bad_usage("--bandit is for a postgresql:// URL; '{}' is none", options.file);
    return read_log(options.file, options.log);
  }
  if (options.bandit.empty()) throw bad_usage("say which bandit of the database: --bandit NAME");
  return read_event_log(*read_log(options.file, options.bandit), options.bandit, options.log);
}

Evaluation evaluate_with_progress(const LoggedData& data, const EvaluationConfig& config) {
  Progress progress(evaluation_work(data, config), 0);
  const Evaluation result = evaluate(data, config, [&](std::size_t rounds) {
    if (stop_flag()) throw Interrupted();
    progress.add(rounds);
  });
  progress.finish();
  return result;
}

int run(EvaluateOptions& options, const Words& words) {
  resolve(options);
  TableChoice choice = table_choice(options);
  if (!options.out.empty()) check_writable(options.out);
  if (options.threads < 0) throw bad_usage("--threads must be at least 0 (all), not {}", options.threads);
  const ThreadScope scope(options.threads);
  watch_signals();
  options.log.read = [](std::size_t) {
    if (stop_flag()) throw Interrupted();
  };
  const LoggedData data = read(options);
  if (!options.config.reward_range) options.config.reward_range = data.reward_range;
  choose_interval(choice, options);
  const Evaluation result = evaluate_with_progress(data, options.config);
  if (options.json) {
    fmt::print("{}\n", log_json(data, result).dump());
    for (const JudgedResult& policy : result.policies) fmt::print("{}\n", policy_json(policy).dump());
  } else {
    fmt::print("{}", evaluation_text(data, options.config, result, choice));
  }
  if (options.out.empty()) return 0;
  write_file_atomically(options.out,
                        evaluation_page(data, options.config, result,
                                        {.table = choice,
                                         .title = is_postgres_url(options.file) ? options.bandit : options.file,
                                         .feature = options.feature,
                                         .command = shell_line(without_passwords(words))}));
  announce("Page", options.out, options.json);
  return 0;
}

void add_log_options(CLI::App& command, EvaluateOptions& options) {
  add_text(
      command, "--format", [&](const std::string& word) { parse_value(word, options.log.format); },
      "auto, events, csv, jsonl, vw or dsjson (default auto)");
  add_text(command, "--actions", options.actions, "names of the actions in order, joined by commas");
  add_text(command, "--action-column", options.log.action, "name of the column (default action)");
  add_text(command, "--reward-column", options.log.reward, "name of the column (default reward)");
  add_text(command, "--propensity-column", options.log.propensity, "name of the column (default propensity)");
  add_text(command, "--reward-range", options.range,
           "LOW,HIGH that rewards cannot leave: confidence sequences and Bernstein intervals need it");
}

}  // namespace

std::function<int()> add_evaluate(CLI::App& app, const Words& words) {
  auto* command = app.add_subcommand("evaluate", "Estimate from a log what other policies would have earned");
  auto options = std::make_shared<EvaluateOptions>();
  EvaluationConfig& config = options->config;
  add_text(*command, "LOG", options->file,
           "directory of a live bandit, a file (docs/evaluation.md), or the postgresql:// URL of a fleet")
      ->required();
  add_text(*command, "--bandit", options->bandit, "where LOG is a postgresql:// URL: which of its bandits");
  command
      ->add_option("--policy", config.policies,
                   "uniform, fixed:ACTION, saved:FILE, agent:SPEC or column:NAME; repeat for more")
      ->allow_extra_args(false);
  add_log_options(*command, *options);
  add_text(*command, "--against", config.against, "differences to: logged, or one of the policies (default logged)");
  add_text(*command, "--estimator", options->estimator,
           "of the table: ips, snips, dm, dr, dros or replay (default dr; ips with --model none)");
  add_text(*command, "--interval", options->interval,
           "of the table: asymptotic, bootstrap, bernstein or sequence (default sequence, if there is a reward range)");
  command->add_option("--level", config.level, "of the intervals (default 0.95)");
  add_text(*command, "--model", config.model, "of the reward: linear, none, or an agent's spec (default linear)");
  add_whole(*command, "--folds", config.folds, "of the cross-fitted model (default 5)");
  add_whole(*command, "--bootstrap", config.bootstrap, "resamples (default 0, or 1000 with --interval bootstrap)");
  add_whole(*command, "--draws", config.draws,
            "simulated decisions where probabilities have no closed form (default 50)");
  add_whole(*command, "--seed", config.seed, "seed of every random draw (default 0)");
  add_whole(*command, "--threads", options->threads, "threads (default 0: all of the machine)");
  add_text(*command, "--out", options->out, "page to write");
  add_text(*command, "--feature", options->feature, "column of the context by which the page shows rewards");
  command->add_flag("--json", options->json, "one JSON object per line on stdout instead of the table");
  command->footer("Example:\n  pits evaluate shop --policy uniform --policy fixed:tea --model none --reward-range 0,1");
  return [options, words] {
    try {
      return run(*options, words);
    } catch (const Interrupted&) {
      note("interrupted\n");
      return 130;
    }
  };
}

}  // namespace pits::cli
