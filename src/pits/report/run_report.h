// What a finished run shows: a table on the terminal and a page.
#pragma once

#include <string>
#include <vector>

#include "pits/core/io/text_table.h"
#include "pits/experiment/summary.h"

namespace pits {

// Rows are agents, columns environments, cells normalised regret as mean ± standard error; with `colour` the best of a
// column is bold. Below it: remarks on the problems and their data.
std::string regret_table(const Plan& plan, const std::vector<SummaryRow>& rows, bool colour);

// The same table of paired differences to the agent that the plan compares with; empty if there is none.
std::string difference_table(const Plan& plan, const std::vector<SummaryRow>& rows);

// All that a finished run prints: those tables, and the text of its diagnostics.
std::string run_text(const Plan& plan, const std::vector<SummaryRow>& rows, bool colour);

// Regret beside its cost, one row per agent and environment.
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
