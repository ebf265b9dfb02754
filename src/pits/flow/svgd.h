// Stein variational gradient descent (Liu and Wang 2016).
#pragma once

#include "pits/flow/velocity.h"

namespace pits {

// v_i += (1/M) Σ_j [ k_ij G_j + λ₁ (2/h) k_ij (θ_i − θ_j) ], the part F₁ of Eq. 6. Needs w.kernel at θ; λ₁ is
// `entropy`.
template <class T>
void add_svgd(const Cloud<T>& cloud, ScoreAt score_at, double entropy, Workspace<T>& w, Velocity<T>& v) {
  const std::size_t M = cloud.theta.rows();
  const T per_particle = T{1} / static_cast<T>(M);
  const T repulsion = static_cast<T>(entropy) * w.kernel.slope * per_particle;
  Matrix<T>& score_weight = v.add_weighted_scores(M);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      const std::size_t source = score_at == ScoreAt::neighbour ? j : i;
      score_weight(i, source) += per_particle * w.kernel.k(i, j);
    }
  }
  Matrix<T>& pair_weight = v.add_differences(M);
  for (std::size_t i = 0; i < M * M; ++i) pair_weight.data()[i] = repulsion * w.kernel.k.data()[i];
}

}  // namespace pits
