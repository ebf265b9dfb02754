// From finished cells to the numbers of a table: one row for each agent and environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pits/experiment/results.h"

namespace pits {

// Over realizations; std and se are NaN for one realization, and all are NaN if any realization is NaN.
struct Statistics {
  double mean, std, se, median;
};
Statistics statistics(std::vector<double> values);

struct SummaryRow {
  std::string agent;
  std::string environment;
  Statistics normalized_regret;
  Statistics regret;
  // Normalised regret minus that of the agent that the plan compares with, realization by realization.
  std::optional<Statistics> difference{};
  double seconds;                         // CPU time of choose and learn, all realizations
  std::vector<double> finals;             // normalised regret of each realization
  std::vector<std::size_t> curve_rounds;  // where the curve is recorded
  std::vector<double> curve_mean;         // cumulative regret
  std::vector<double> curve_std;
  std::vector<double> pulls;                                           // mean number of pulls of each action
  nlohmann::ordered_json observed = nlohmann::ordered_json::object();  // fields that diagnostics add to the line
};

// In the order of the cells: environments, then agents.
std::vector<SummaryRow> summarise(const Plan& plan, const Results& results);

// Of a run directory; an Error where it lacks cells.
std::vector<SummaryRow> finished_rows(const std::filesystem::path& directory, const Plan& plan);

// The row of an agent and an environment that are there.
const SummaryRow& row_of(const std::vector<SummaryRow>& rows, std::string_view agent, std::string_view environment);

// The line that `pits run --json` prints; `seconds` is left out of the files that are compared byte by byte.
nlohmann::ordered_json summary_line(const Plan& plan, const SummaryRow& row, bool with_seconds);

}  // namespace pits
