// Runs one cell of a plan: its agent meets its environment, with the observers that the plan asks for.
#pragma once

#include "pits/experiment/plan.h"

namespace pits {

// An Error says which cell it was.
Trajectory run_cell(const Plan& plan, const Cell& cell, const RoundsDone& done);

}  // namespace pits
