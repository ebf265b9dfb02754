// Replay (Li, Chu, Langford and Wang 2011), for logs of uniform play only: the mean reward of the rounds in which the
// policy takes the logged action,   V̂ = Σ_i π(a_i|x_i) r_i / Σ_i π(a_i|x_i)
// A policy that draws counts each round by its probability of the logged action: the mean over its draws.
#pragma once

#include "pits/evaluate/estimators/terms.h"

namespace pits {

inline Ratio replay(const RoundTerms& t) { return {t.probability * t.reward, t.probability}; }

}  // namespace pits
