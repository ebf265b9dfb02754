// Inverse propensity scoring (Horvitz and Thompson 1952):   V̂ = 1/n Σ_i w_i r_i
// Unbiased where every action that π plays has a propensity above 0. Its variance grows with the weights.
#pragma once

#include "pits/evaluate/estimators/terms.h"

namespace pits {

inline Ratio ips(const RoundTerms& t) { return {t.weight * t.reward, 1.0}; }

}  // namespace pits
