// Gradient flow with a smoothed density (Liu et al. 2019); also known as a KDE-repulsive ensemble.
#pragma once

#include "pits/flow/velocity.h"

namespace pits {

// v_i += G_i + λ₁ (2/h) Σ_j k_ij (θ_i − θ_j) / S_i. Needs w.kernel at θ; λ₁ is `entropy`.
template <class T>
void add_gfsd(const Cloud<T>& cloud, Workspace<T>& w, Velocity<T>& v, double entropy = 1.0) {
  const std::size_t M = cloud.theta.rows();
  const auto& [h, slope, k, S, d2] = w.kernel;
  const T repulsion = static_cast<T>(entropy) * slope;
  v.add_scores();
  Matrix<T>& pair_weight = v.add_differences(M);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) pair_weight(i, j) = repulsion * k(i, j) / S[i];
  }
}

}  // namespace pits
