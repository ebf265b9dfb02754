#include <fmt/format.h>

#include <cmath>

#include "pits/core/fields.h"
#include "pits/core/io/text_table.h"
#include "pits/report/evaluation_report.h"

namespace pits {
namespace {

std::optional<Interval> interval_of(const Estimate* estimate, const std::optional<Interval>& sequence,
                                    IntervalKind kind) {
  if (kind == IntervalKind::sequence) return sequence;
  if (estimate == nullptr) return std::nullopt;
  if (kind == IntervalKind::bootstrap) return estimate->bootstrap;
  if (kind == IntervalKind::bernstein) return estimate->bernstein;
  return estimate->asymptotic;
}

std::string shown(const std::optional<Interval>& interval) {
  return interval ? fmt::format("[{:.4f}, {:.4f}]", interval->low, interval->high) : "";
}

std::vector<std::string> row(const JudgedResult& result, const TableChoice& choice) {
  const Estimate* value = result.find(choice.estimator);
  if (value == nullptr) {
    throw bad_input("there is no estimate by {}: replay is for logs of uniform play", format_value(choice.estimator));
  }
  const Estimate& difference = result.differences[static_cast<std::size_t>(value - result.estimates.data())];
  const WeightDiagnostics& w = result.weights;
  std::vector<std::string> cells = {result.policy,
                                    fmt::format("{:.4f}", value->value),
                                    shown(interval_of(value, result.sequence, choice.interval)),
                                    fmt::format("{:+.4f}", difference.value),
                                    shown(interval_of(&difference, result.sequence_difference, choice.interval)),
                                    fmt::format("{:.0f}", w.effective_rounds),
                                    fmt::format("{:.3g}", w.largest),
                                    fmt::format("{:.3f}", w.mean),
                                    w.unsupported ? fmt::format("{:.1f} %", 100.0 * *w.unsupported) : "unknown"};
  if (result.truth) cells.push_back(fmt::format("{:.4f}", *result.truth));
  return cells;
}

std::vector<std::string> logged_row(const Evaluation& result, const TableChoice& choice, bool truth) {
  const IntervalKind kind = choice.interval == IntervalKind::bernstein ? IntervalKind::asymptotic : choice.interval;
  std::vector<std::string> cells = {"logged",
                                    fmt::format("{:.4f}", result.logged.value),
                                    shown(interval_of(&result.logged, result.logged_sequence, kind)),
                                    "",
                                    "",
                                    fmt::format("{}", result.rounds),
                                    "1",
                                    "1.000",
                                    ""};
  if (truth) cells.push_back(result.logged_truth ? fmt::format("{:.4f}", *result.logged_truth) : "");
  return cells;
}

std::string counts_text(const LoggedData& data) {
  const LogCounts& c = data.counts;
  std::string text = fmt::format("{} rounds, {} actions", data.rounds(), data.K());
  const auto add = [&](std::uint64_t n, std::string_view what) {
    if (n > 0) text += fmt::format("; {} {}", n, what);
  };
  add(c.cold_start, "certain decisions at the start left out (cold start)");
  add(c.certain, "certain decisions later, kept");
  add(c.expired, "without a reward in time, by default");
  add(c.estimated, "with estimated propensities");
  add(c.cancelled, "cancelled, left out");
  add(c.waiting, "without a reward yet, left out");
  add(c.erased, "with erased contexts, left out");
  add(c.dangling, "rewards without a decision, left out");
  add(c.restored, "restored from tokens, left out");
  add(c.unlogged, "decisions never logged (overload)");
  return text;
}

}  // namespace

std::string evaluation_text(const LoggedData& data, const EvaluationConfig& config, const Evaluation& result,
                            const TableChoice& choice) {
  const std::string level = fmt::format("{:g} % {}", 100.0 * config.level, format_value(choice.interval));
  TextTable table{.header = {"policy", fmt::format("value ({})", format_value(choice.estimator)), level,
                             "to " + config.against, level, "effective", "largest w", "mean w", "no support"},
                  .rows = {}};
  const bool truth = !result.policies.empty() && result.policies.front().truth.has_value();
  if (truth) table.header.push_back("truth");
  table.rows.push_back(logged_row(result, choice, truth));
  for (const JudgedResult& policy : result.policies) table.rows.push_back(row(policy, choice));
  table.notes.push_back(counts_text(data));
  if (!config.reward_range) {
    table.notes.push_back(
        "No reward range: no interval that holds at every look and for a logger that learns (--reward-range "
        "LOW,HIGH).");
  }
  for (const JudgedResult& policy : result.policies) {
    if (!policy.remark.empty()) table.notes.push_back(fmt::format("{}: {}.", policy.policy, policy.remark));
    for (const std::string& warning : policy.warnings) {
      table.notes.push_back(fmt::format("{}: do not trust it. {}", policy.policy, warning));
    }
  }
  return as_text(table);
}

}  // namespace pits
