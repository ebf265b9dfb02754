// The energy that the flows descend: F(μ) = KL(μ‖p) up to log p's constant, the paper's Eq. 3.
#pragma once

#include <span>

#include "pits/flow/velocity.h"

namespace pits {

// Eq. 3 at the particles, with the entropy of their kernel density estimate:
//   F = −(1/M) Σ_i U(θ_i) + (1/M) Σ_i log[ (1/M) Σ_j k_ij (πh)^{−P/2} ].
// Blob is its gradient flow for a fixed h: v_i = −M ∂F/∂θ_i. `log_density` has U(θ_i), one per particle.
// Infinite where h = 0: the estimate is then a sum of point masses. Overwrites w.kernel.
template <class T>
double free_energy(ConstMatrixView<T> theta, std::span<const T> log_density, const Scale& bandwidth, Workspace<T>& w);

}  // namespace pits
