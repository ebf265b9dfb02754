// Entropic optimal transport between two clouds of M particles of mass 1/M each (Cuturi 2013), in the log domain.
#pragma once

#include "pits/core/matrix.h"

namespace pits {

struct SinkhornOptions {
  // Largest relative error of a row sum, or the rounding error of cost/λ where that is larger; column sums are exact
  // to rounding.
  double tolerance = 1e-10;
  int max_iterations = 100000;
};

// The plan π (M,M) that minimises Σ π_ij c_ij + λ Σ π_ij (log π_ij − 1) with row and column sums 1/M.
// Throws when the marginals have not settled after max_iterations (λ very small against the cost).
Matrix<double> sinkhorn_plan(ConstMatrixView<double> cost, double lambda, const SinkhornOptions& options = {});

}  // namespace pits
