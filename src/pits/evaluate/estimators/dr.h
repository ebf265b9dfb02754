// Doubly robust (Dudík, Langford and Li 2011):   V̂ = 1/n Σ_i [ Σ_a π(a|x_i) q̂(x_i,a) + w_i (r_i − q̂(x_i,a_i)) ]
// Unbiased where IPS is, whatever the model, which is cross-fitted; a good model takes most of the variance away.
#pragma once

#include "pits/evaluate/estimators/terms.h"

namespace pits {

inline Ratio dr(const RoundTerms& t) { return {t.model_value + t.weight * (t.reward - t.model_logged), 1.0}; }

}  // namespace pits
