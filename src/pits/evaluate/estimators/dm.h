// Direct method:   V̂ = 1/n Σ_i Σ_a π(a|x_i) q̂(x_i,a)
// Has no weights and the bias of the model. Its interval is about the contexts and knows nothing of that bias.
#pragma once

#include "pits/evaluate/estimators/terms.h"

namespace pits {

inline Ratio dm(const RoundTerms& t) { return {t.model_value, 1.0}; }

}  // namespace pits
