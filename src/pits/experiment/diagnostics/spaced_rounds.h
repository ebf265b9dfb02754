// Rounds at which something is recorded.
#pragma once

#include <cstddef>
#include <vector>

namespace pits {

// At most `points` rounds, counted from 1, evenly spaced in log t from `first` to `rounds`.
std::vector<std::size_t> spaced_rounds(std::size_t rounds, std::size_t first, std::size_t points);

}  // namespace pits
