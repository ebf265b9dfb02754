// Gradient flow with smoothed test functions (Liu et al. 2019): minus the Stein estimate of ∇log μ (Li and
// Turner 2018) as the repulsion.
#pragma once

#include "pits/flow/velocity.h"

namespace pits {

// v_i += G_i + λ₁ Σ_j [(K + εI)⁻¹]_ij Σ_l (2/h) k_jl (θ_j − θ_l), ε = ridge · max K. Needs w.kernel at
// θ; λ₁ is `entropy`.
template <class T>
void add_gfsf(const Cloud<T>& cloud, double ridge, Workspace<T>& w, Velocity<T>& v, double entropy = 1.0);

}  // namespace pits
