// Executes the cells of a plan on threads.
#pragma once

#include <atomic>

#include "pits/experiment/results.h"

namespace pits {

// Thrown when `stop` is raised while cells run; finished cells are kept.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// Runs every cell that `results` does not have yet. `done` is called from many threads.
void run_cells(const Plan& plan, Results& results, int threads, const std::atomic<bool>& stop, const RoundsDone& done);

}  // namespace pits
