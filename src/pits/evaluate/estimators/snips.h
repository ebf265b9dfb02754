// Self-normalised inverse propensity scoring (Swaminathan and Joachims 2015):   V̂ = Σ_i w_i r_i / Σ_i w_i
// Always between the smallest and the largest reward, and moves with them: V̂(r + c) = V̂(r) + c. Biased by O(1/n).
#pragma once

#include "pits/evaluate/estimators/terms.h"

namespace pits {

inline Ratio snips(const RoundTerms& t) { return {t.weight * t.reward, t.weight}; }

}  // namespace pits
