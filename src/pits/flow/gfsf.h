// Gradient flow with smoothed test functions (Liu et al. 2019): minus the Stein estimate of ∇log μ (Li and
// Turner 2018) as the repulsion.
#pragma once

#include <Eigen/Cholesky>

#include "pits/core/error.h"
#include "pits/flow/velocity.h"

namespace pits {

using SteinMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// With R = diag(S) − K, the inner sum is (2/h)(Rθ)_j, so the weight of θ_j is (2/h)[(K + εI)⁻¹R]_ij. These sum to 0
// over j, so that the negative weights −(2/h)(K + εI)⁻¹R, returned here, act on the differences θ_i − θ_j: nothing is
// lost where the cloud is far from the origin, and equal particles do not repel.
template <class T>
SteinMatrix stein_weights(const RbfKernel<T>& kernel, double ridge) {
  const auto M = static_cast<Eigen::Index>(kernel.k.rows());
  SteinMatrix k(M, M);
  for (Eigen::Index i = 0; i < M; ++i) {
    for (Eigen::Index j = 0; j < M; ++j) {
      k(i, j) = kernel.k(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    }
  }
  SteinMatrix r = -k;
  r.diagonal() += k.rowwise().sum();
  const double epsilon = ridge * k.maxCoeff();
  const Eigen::LLT<SteinMatrix> cholesky(k + epsilon * SteinMatrix::Identity(M, M));
  if (cholesky.info() != Eigen::Success) {
    throw failed("gfsf: K + {}·I is not positive definite; raise ridge", epsilon);
  }
  return cholesky.solve(r) * -static_cast<double>(kernel.slope);
}

// v_i += G_i + λ₁ Σ_j [(K + εI)⁻¹]_ij Σ_l (2/h) k_jl (θ_j − θ_l), ε = ridge · max K. Needs w.kernel at
// θ; λ₁ is `entropy`.
template <class T>
void add_gfsf(const Cloud<T>& cloud, double ridge, Workspace<T>& w, Velocity<T>& v, double entropy = 1.0) {
  const std::size_t M = cloud.theta.rows();
  const SteinMatrix weights = stein_weights(w.kernel, ridge);
  v.add_scores();
  Matrix<T>& pair_weight = v.add_differences(M);
  for (std::size_t i = 0; i < M * M; ++i) pair_weight.data()[i] = static_cast<T>(entropy * weights.data()[i]);
}

}  // namespace pits
