// Blob (Carrillo, Craig and Patacchini 2019; Chen et al. 2018): the paper's π-TS-Blob.
#pragma once

#include "pits/flow/velocity.h"

namespace pits {

// v_i += G_i + λ₁ (2/h) Σ_j k_ij (θ_i − θ_j) [ 1/S_i + 1/S_j ]. Needs w.kernel at θ; λ₁ is `entropy`.
template <class T>
void add_blob(const Cloud<T>& cloud, Workspace<T>& w, Velocity<T>& v, double entropy = 1.0);

}  // namespace pits
