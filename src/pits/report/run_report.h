// What a finished run shows: a table on the terminal and a page.
#pragma once

#include <string>
#include <vector>

#include "pits/experiment/summary.h"
#include "pits/report/text_table.h"

namespace pits {

// Agents down, environments across, normalised regret as mean ± standard error; the best of a column in bold where
// `colour` allows. What the problems' data must be known for stands below.
std::string regret_table(const Plan& plan, const std::vector<SummaryRow>& rows, bool colour);

// All that a finished run says on the terminal: that table, and the health of particles where it was asked for.
std::string run_text(const Plan& plan, const std::vector<SummaryRow>& rows, bool colour);

// Regret beside its cost, a row for each agent and environment.
TextTable cost_table(const Plan& plan, const std::vector<SummaryRow>& rows);

struct Origin {
  std::string command;
  std::string machine;
};

// From origin.json of a run directory.
Origin read_origin(const std::filesystem::path& directory);

// What the page shows of a run: steps, realizations, agents, environments, summary, curves, finals, pulls.
nlohmann::ordered_json run_data(const Plan& plan, const std::vector<SummaryRow>& rows);
std::string run_page(const Plan& plan, const std::vector<SummaryRow>& rows, const Origin& origin);

// Everything that a run directory gets once all its cells are there.
void write_outcome(const RunDirectory& directory, const Plan& plan, const std::vector<SummaryRow>& rows);

}  // namespace pits
