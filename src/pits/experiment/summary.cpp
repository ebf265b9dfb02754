#include "pits/experiment/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pits/core/error.h"
#include "pits/experiment/curve_sums.h"
#include "pits/experiment/diagnostics/catalogue.h"

namespace pits {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double std_of(const std::vector<double>& values, double mean) {
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  double square = 0.0;
  for (const double x : values) square += (x - mean) * (x - mean);
  return std::sqrt(square / static_cast<double>(values.size() - 1));
}

SummaryRow summarise_group(const Plan& plan, const Results& results, std::size_t first_cell) {
  SummaryRow row{};
  const Cell cell = plan.cell(first_cell);
  row.agent = plan.agents()[cell.agent];
  row.environment = plan.environments()[cell.environment];
  std::vector<double> regrets;
  CurveSums curves;
  std::vector<nlohmann::ordered_json> observed;
  for (std::size_t i = first_cell; i < first_cell + plan.realizations(); ++i) {
    const Trajectory path = results.get(i);
    if (i > first_cell && path.rounds != row.curve_rounds.back()) {
      throw bad_input("'{}' on '{}': realization 0 has {} rounds and realization {} has {}; they need as many",
                      row.agent, row.environment, row.curve_rounds.back(), i - first_cell, path.rounds);
    }
    row.finals.push_back(path.normalized_regret());
    regrets.push_back(path.regret);
    observed.push_back(path.observed);
    row.seconds += path.seconds;
    row.curve_rounds = curve_rounds(path.rounds);
    curves.add(path.curve);
    row.pulls.resize(path.pulls.size());
    for (std::size_t a = 0; a < path.pulls.size(); ++a) {
      row.pulls[a] += static_cast<double>(path.pulls[a]) / static_cast<double>(plan.realizations());
    }
  }
  row.normalized_regret = statistics(row.finals);
  row.regret = statistics(regrets);
  row.curve_mean = curves.mean();
  row.curve_std = curves.std();
  row.observed = summarise_observed(observed, row.curve_rounds.back());
  return row;
}

Statistics paired_difference(const SummaryRow& row, const SummaryRow& other) {
  std::vector<double> differences;
  for (std::size_t r = 0; r < row.finals.size(); ++r) differences.push_back(row.finals[r] - other.finals[r]);
  return statistics(std::move(differences));
}

}  // namespace

Statistics statistics(std::vector<double> values) {
  Statistics s{};
  s.mean = mean_of(values);
  s.std = std_of(values, s.mean);
  s.se = s.std / std::sqrt(static_cast<double>(values.size()));
  if (std::ranges::any_of(values, [](double x) { return std::isnan(x); })) {
    s.median = std::numeric_limits<double>::quiet_NaN();  // NaN has no place in an order
    return s;
  }
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  s.median = values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
  return s;
}

std::vector<SummaryRow> summarise(const Plan& plan, const Results& results) {
  std::vector<SummaryRow> rows;
  for (std::size_t i = 0; i < plan.cells(); i += plan.realizations()) {
    rows.push_back(summarise_group(plan, results, i));
  }
  const std::string& base = plan.config().compare;
  for (SummaryRow& row : rows) {
    if (!base.empty() && row.agent != base)
      row.difference = paired_difference(row, row_of(rows, base, row.environment));
  }
  return rows;
}

std::vector<SummaryRow> finished_rows(const std::filesystem::path& directory, const Plan& plan) {
  const auto run = RunDirectory::open(directory, plan);
  std::size_t lacking = 0;
  for (std::size_t i = 0; i < plan.cells(); ++i) lacking += run->has(i) ? 0 : 1;
  if (lacking == 0) return summarise(plan, *run);
  throw bad_input("'{}' lacks {} of {} cells; finish it with --resume", directory.string(), lacking, plan.cells());
}

const SummaryRow& row_of(const std::vector<SummaryRow>& rows, std::string_view agent, std::string_view environment) {
  return *std::ranges::find_if(
      rows, [&](const SummaryRow& row) { return row.agent == agent && row.environment == environment; });
}

nlohmann::ordered_json summary_line(const Plan& plan, const SummaryRow& row, bool with_seconds) {
  const auto& n = row.normalized_regret;
  nlohmann::ordered_json line = {
      {"agent", row.agent},
      {"env", row.environment},
      {"steps", plan.steps()},
      {"rounds", row.curve_rounds.back()},
      {"realizations", plan.realizations()},
      {"seed", plan.seed()},
      {"normalized_regret", {{"mean", n.mean}, {"std", n.std}, {"se", n.se}, {"median", n.median}}},
      {"regret", {{"mean", row.regret.mean}, {"std", row.regret.std}, {"se", row.regret.se}}}};
  if (row.difference) {
    const auto& d = *row.difference;
    line["difference"] = {{"to", plan.config().compare}, {"mean", d.mean}, {"se", d.se}};
  }
  if (plan.config().regret != RegretOf::rewards) line["regret_of"] = format_value(plan.config().regret);
  if (plan.feedback() != FeedbackKind::played) line["feedback"] = format_value(plan.feedback());
  line.update(row.observed);
  const std::vector<std::string> environments = plan.environments();
  const auto environment =
      static_cast<std::size_t>(std::ranges::find(environments, row.environment) - environments.begin());
  if (const std::string remark = plan.remarks().at(environment); !remark.empty()) line["remark"] = remark;
  if (with_seconds) line["seconds"] = row.seconds;
  return line;
}

}  // namespace pits
