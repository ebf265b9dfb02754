// Probabilities of Thompson sampling where the sampled values of actions are independent: how likely each is the
// largest, by one-dimensional integrals instead of simulated decisions.
#pragma once

#include <span>

#include "pits/agent/query.h"
#include "pits/posterior/value_law.h"

namespace pits {

// The largest error of best_probabilities().
inline constexpr double best_tolerance = 1e-6;

// out (K): P(a's value is the largest among the allowed) = ∫ f_a(v) Π_{b≠a} F_b(v) dv, 0 where a is not allowed; the
// sum is 1. Of equal constants the lowest index wins, as in best_action(). False where a law is not finite or its tails
// are too long (below a quarter degree of freedom): out is then undefined.
bool best_probabilities(std::span<const ValueLaw> laws, const ActionSet& actions, std::span<double> out);

}  // namespace pits
