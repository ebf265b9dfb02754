#include "pits/experiment/runner.h"

#include <algorithm>

#include "pits/core/parallel.h"

namespace pits {

void run_cells(const Plan& plan, Results& results, int threads, const std::atomic<bool>& stop, const RoundsDone& done) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    if (!results.has(i)) open.push_back(i);
  }
  if (open.empty()) return;
  const ThreadScope scope(threads);
  const int threads_a_cell =
      std::max(1, scope.threads() / static_cast<int>(std::min<std::size_t>(open.size(), 1 << 20)));
  std::atomic<bool> failed_elsewhere = false;
  parallel_for(open.size(), [&](std::size_t i) {
    const auto check_in = [&](std::size_t rounds) {
      if (stop || failed_elsewhere) throw Interrupted();
      done(rounds);
    };
    const SpreadScope spread(threads_a_cell);
    try {
      check_in(0);
      results.put(open[i], plan.run(plan.cell(open[i]), check_in));
    } catch (const Interrupted&) {
      if (stop) throw;  // else another cell's own exception is on its way
    } catch (...) {
      failed_elsewhere = true;
      throw;
    }
  });
}

}  // namespace pits
