// The transport part F₂ of the discrete gradient flow (the paper's Eqs. 4 to 6): what keeps the cloud θ near the
// cloud θ′ that the step started from.
#pragma once

#include "pits/flow/velocity.h"

namespace pits {

// Eq. 6, transport part, with constant multipliers u_i v_j = γ:
//   v_i −= (γ/M) Σ_j (c_ij/λ − 1) e^{−c_ij/λ} (θ_i − θ′_j),   c_ij = ‖θ_i − θ′_j‖².
// Pulled to an earlier particle farther than √λ, pushed off a nearer one.
template <class T>
void add_transport(const Cloud<T>& cloud, const Scale& lambda, double gamma, Workspace<T>& w, Velocity<T>& v);

// The released code's form: v_i += (1/2M) Σ_j e^{−c_ij/2s²} (1 − c_ij/s²) (θ_i − θ′_j), s² = median(c)/(2 log(M+1)).
template <class T>
void add_released_transport(const Cloud<T>& cloud, Workspace<T>& w, Velocity<T>& v);

// v_i −= (1/τ) M Σ_j π_ij (θ_i − θ′_j) with the entropic plan π between the clouds, the adaptive multipliers that
// the paper names and skips. `debiased` subtracts the same term with the plan of θ to itself (Feydy et al. 2019).
// τ is the step of the JKO scheme, h in Eq. 4.
template <class T>
void add_sinkhorn_transport(const Cloud<T>& cloud, const Scale& lambda, double tau, bool debiased, Workspace<T>& w,
                            Velocity<T>& v);

}  // namespace pits
