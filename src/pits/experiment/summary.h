// From finished cells to the numbers of a table: one row for each agent and environment.
#pragma once

#include <string>
#include <vector>

#include "pits/experiment/health_summary.h"
#include "pits/experiment/results.h"

namespace pits {

// Over realizations; std and se are NaN for one realization.
struct Statistics {
  double mean, std, se, median;
};
Statistics statistics(std::vector<double> values);

struct SummaryRow {
  std::string agent;
  std::string environment;
  Statistics normalized_regret;
  Statistics regret;
  double seconds;                         // CPU time of choose and learn, all realizations
  std::vector<double> finals;             // normalised regret of each realization
  std::vector<std::size_t> curve_rounds;  // where the curve is recorded
  std::vector<double> curve_mean;         // cumulative regret
  std::vector<double> curve_std;
  std::vector<double> pulls;           // mean number of pulls of each action
  std::vector<double> posterior_w2{};  // mean at probe_rounds, where a probe looked
  std::vector<double> posterior_w2_se{};
  std::vector<double> posterior_floor{};  // mean over realizations
  std::optional<HealthSummary> health{};  // where it was asked for and there are particles
};

// In the order of the cells: environments, then agents.
std::vector<SummaryRow> summarise(const Plan& plan, const Results& results);

// The line that `pits run --json` prints; `seconds` is left out of the files that are compared byte by byte.
nlohmann::ordered_json summary_line(const Plan& plan, const SummaryRow& row, bool with_seconds);

}  // namespace pits
