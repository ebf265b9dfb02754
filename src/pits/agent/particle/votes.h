// Decisions by particles: the probability of an action is the share of particles that prefer it.
#pragma once

#include "pits/agent/agent.h"

namespace pits {

// p[a] = the share of the M rows of values, (M,K), whose best allowed action is a.
inline void count_votes(ConstMatrixView<float> values, std::span<const double> weights, const ActionSet& actions,
                        ActionProbabilities& out) {
  std::ranges::fill(out.p, 0.0);
  for (std::size_t i = 0; i < values.rows(); ++i) {
    const double weight = weights.empty() ? 1.0 / static_cast<double>(values.rows()) : weights[i];
    if (weight > 0.0) out.p[best_action(values.row(i), actions)] += weight;
  }
  out.exact = true;
}

}  // namespace pits
