#include "pits/experiment/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pits/experiment/curve_sums.h"

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

std::vector<double> column(const std::vector<Reading>& readings, double Reading::*member) {
  std::vector<double> values;
  for (const Reading& reading : readings) values.push_back(reading.*member);
  return values;
}

SummaryRow summarise_group(const Plan& plan, const Results& results, std::size_t first_cell) {
  SummaryRow row{};
  const Cell cell = plan.cell(first_cell);
  row.agent = plan.agents()[cell.agent];
  row.environment = plan.environments()[cell.environment];
  std::vector<double> regrets;
  CurveSums curves, w2, floor;
  std::vector<Health> healths;
  for (std::size_t i = first_cell; i < first_cell + plan.realizations(); ++i) {
    const Trajectory path = results.get(i);
    row.finals.push_back(path.normalized_regret());
    regrets.push_back(path.regret);
    w2.add(column(path.readings, &Reading::w2));
    floor.add(column(path.readings, &Reading::floor));
    if (path.health.known()) healths.push_back(path.health);
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
  row.posterior_w2 = w2.mean();
  row.posterior_w2_se = w2.se();
  row.posterior_floor = floor.mean();
  if (!healths.empty()) row.health = summarise_health(healths);
  return row;
}

}  // namespace

Statistics statistics(std::vector<double> values) {
  Statistics s{};
  s.mean = mean_of(values);
  s.std = std_of(values, s.mean);
  s.se = s.std / std::sqrt(static_cast<double>(values.size()));
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
  return rows;
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
  if (plan.feedback() != Revealed::played) line["feedback"] = format_value(plan.feedback());
  if (!row.posterior_w2.empty()) {
    line["posterior_rounds"] = probe_rounds(row.curve_rounds.back());
    line["posterior_w2"] = row.posterior_w2;
    line["posterior_w2_se"] = row.posterior_w2_se;
    line["posterior_floor"] = row.posterior_floor;
  }
  if (row.health) line["health"] = health_json(*row.health);
  const std::vector<std::string> environments = plan.environments();
  const auto environment =
      static_cast<std::size_t>(std::ranges::find(environments, row.environment) - environments.begin());
  if (const std::string remark = plan.remarks().at(environment); !remark.empty()) line["remark"] = remark;
  if (with_seconds) line["seconds"] = row.seconds;
  return line;
}

}  // namespace pits
