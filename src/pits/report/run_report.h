// What a finished run shows: a table on the terminal and a page.
#pragma once

#include <string>
#include <vector>

#include "pits/experiment/summary.h"

namespace pits {

// Agents down, environments across, normalised regret as mean ± standard error; the best of a column in bold where
// `colour` allows. What the problems' data must be known for stands below.
std::string regret_table(const Plan& plan, const std::vector<SummaryRow>& rows, bool colour);

struct Origin {
  std::string command;
  std::string machine;
};

// From origin.json of a run directory.
Origin read_origin(const std::filesystem::path& directory);

std::string run_page(const Plan& plan, const std::vector<SummaryRow>& rows, const Origin& origin);

}  // namespace pits
