// Optimal assignment: the permutation that carries one cloud to another at the least total cost.
#pragma once

#include <vector>

#include "pits/core/matrix.h"

namespace pits {

// The columns σ(0), ..., σ(n−1) that minimise Σ_i cost(i, σ(i)) over permutations; cost is (n,n) and finite.
// Shortest augmenting paths with dual prices (Jonker and Volgenant 1987), O(n³). Ties resolve the same way always.
std::vector<std::size_t> optimal_assignment(ConstMatrixView<double> cost);

}  // namespace pits
