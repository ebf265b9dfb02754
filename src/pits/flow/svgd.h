// Stein variational gradient descent (Liu and Wang 2016).
#pragma once

#include "pits/flow/velocity.h"

namespace pits {

// Whose score the kernel weighs: particle j's (SVGD and the paper's released code) or particle i's own
// (Eq. 6 as printed).
enum class ScoreAt { neighbour, own };
template <>
struct EnumNames<ScoreAt> {
  static const std::vector<std::string>& names();
};

struct SvgdParameters {
  ScoreAt score_at = ScoreAt::neighbour;
  double entropy = 1.0;  // λ₁, the weight of the entropy in F₁: scales the repulsion
};

// v_i += (1/M) Σ_j [ k_ij G_j + λ₁ (2/h) k_ij (θ_i − θ_j) ], the part F₁ of Eq. 6. Needs w.kernel at θ.
template <class T>
void add_svgd(const Cloud<T>& cloud, const SvgdParameters& parameters, Workspace<T>& w, Velocity<T>& v);

}  // namespace pits
