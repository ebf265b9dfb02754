#include "pits/experiment/diagnostics/spaced_rounds.h"

#include <algorithm>
#include <cmath>

namespace pits {

std::vector<std::size_t> spaced_rounds(std::size_t rounds, std::size_t first, std::size_t points) {
  std::vector<std::size_t> at;
  const auto start = static_cast<double>(std::min(first, rounds));
  for (std::size_t i = 0; i < points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(points - 1);
    const auto t = static_cast<std::size_t>(std::llround(start * std::pow(static_cast<double>(rounds) / start, share)));
    if (at.empty() || t > at.back()) at.push_back(t);
  }
  return at;
}

}  // namespace pits
