#include "pits/cli/execute.h"

#include "pits/core/error.h"

namespace pits::cli {
namespace {

constexpr std::int64_t most_threads = 4096;

}  // namespace

int checked_threads(std::int64_t threads) {
  if (threads < 0 || threads > most_threads) {
    throw bad_input("--threads must be at least 0 (all) and at most {}, not {}", most_threads, threads);
  }
  return static_cast<int>(threads);
}

std::size_t finished_rounds(const Plan& plan, const Results& results) {
  std::size_t finished = 0;
  for (std::size_t i = 0; i < plan.cells(); ++i) finished += results.has(i) ? 1 : 0;
  return finished * plan.steps();
}

}  // namespace pits::cli
