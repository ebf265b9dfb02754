// How M particles differ in what they predict: an (M,n) matrix, row i is particle i, and a column is one action in one
// context, column c·K + a.
#pragma once

#include "pits/core/matrix.h"

namespace pits {

// The share of contexts in which two different particles, drawn evenly, prefer different actions. Needs M ≥ 2.
double disagreement(ConstMatrixView<double> predictions, std::size_t actions);

// The standard deviation over particles, root mean square over the columns. Needs M ≥ 2.
double spread(ConstMatrixView<double> predictions);

// How many particles count: 1 + (Σλ)²/Σλ², λ the eigenvalues of the Gram matrix of the predictions minus their mean
// over particles. The fraction is the participation ratio (Gao et al. 2017), the number of directions in which the
// particles differ: 0 for M copies, which count as 1; 1 for two clusters, which count as 2; and M − 1 for independent
// particles of one variance and many columns, which count as M. The size of the differences does not matter, until
// they are those of rounding in single precision.
double effective_particles(ConstMatrixView<double> predictions);

}  // namespace pits
