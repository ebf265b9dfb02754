// Blob (Carrillo, Craig and Patacchini 2019; Chen et al. 2018): the paper's π-TS-Blob.
#pragma once

#include "pits/flow/velocity.h"

namespace pits {

// v_i += G_i + λ₁ (2/h) Σ_j k_ij (θ_i − θ_j) [ 1/S_i + 1/S_j ]. Needs w.kernel at θ; λ₁ is `entropy`.
template <class T>
void add_blob(const Cloud<T>& cloud, Workspace<T>& w, Velocity<T>& v, double entropy = 1.0) {
  const std::size_t M = cloud.theta.rows();
  const auto& [h, slope, k, S, d2] = w.kernel;
  const T repulsion = static_cast<T>(entropy) * slope;
  v.add_scores();
  Matrix<T>& pair_weight = v.add_differences(M);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) pair_weight(i, j) = repulsion * k(i, j) * (T{1} / S[i] + T{1} / S[j]);
  }
}

}  // namespace pits
