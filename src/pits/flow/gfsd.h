// Gradient flow with a smoothed density (Liu et al. 2019); also known as a KDE-repulsive ensemble.
#pragma once

#include "pits/flow/velocity.h"

namespace pits {

// v_i += G_i + λ₁ (2/h) Σ_j k_ij (θ_i − θ_j) / S_i. Needs w.kernel at θ; λ₁ is `entropy`.
template <class T>
void add_gfsd(const Cloud<T>& cloud, Workspace<T>& w, Velocity<T>& v, double entropy = 1.0);

}  // namespace pits
