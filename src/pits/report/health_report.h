// What a run says of its particles' health (docs/diagnostics.md).
#pragma once

#include <string>
#include <vector>

#include "pits/experiment/summary.h"

namespace pits {

// A line for each agent of particles on each problem, warnings, and who has no particles to look at; empty where nobody
// asked for diagnostics.
std::string health_text(const Plan& plan, const std::vector<SummaryRow>& rows);

// One line for each agent and problem whose particles have collapsed.
std::vector<std::string> collapse_warnings(const std::vector<SummaryRow>& rows);

}  // namespace pits
