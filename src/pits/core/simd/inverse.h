// The inverse of a symmetric positive definite matrix by its Cholesky factor, in double, by Highway kernels. For the
// regressions of last layers: tens to hundreds of rows, many matrices.
#pragma once

#include "pits/core/matrix.h"

namespace pits {

// A = Uᵀ U, U upper triangular: from the upper triangle of `a`, (n,n), which becomes U; what lies below its diagonal is
// left alone. False where A is not positive definite to working precision; `a` is then half done.
bool factor_upper(MatrixView<double> a);

// W = U⁻¹, upper triangular, zero below its diagonal. A⁻¹ = W Wᵀ, and W z ~ N(0, A⁻¹) for z ~ N(0, I).
void invert_upper(ConstMatrixView<double> u, MatrixView<double> w);

}  // namespace pits
