// How a decision begins: a forced pull, the floor, or the particle that decides.
#pragma once

#include "pits/cuda/normals.h"
#include "pits/cuda/state.cuh"

namespace pits::cuda {

struct DecisionSettings {
  int initial_pulls;
  double floor, floor_decay;
  ColdStart cold_start;

  PITS_HOST_DEVICE double floor_at(int t) const { return floor / (1.0 + floor_decay * t); }
};

struct Beginning {
  int action;    // negative: the particle decides
  int particle;  // its number
};

// The first words of the stream of a decision.
PITS_HOST_DEVICE inline auto decision_words(const GroupView& group, int g, int t) {
  const Address address{.seed = group.seed,
                        .realization = group.realization[g],
                        .purpose = Purpose::decision,
                        .step = static_cast<std::uint32_t>(t)};
  return philox_words(address, 0);
}

PITS_HOST_DEVICE inline Beginning begin_decision(const GroupView& group, const DecisionSettings& choice, int g, int t) {
  const int K = group.actions;
  if (t < static_cast<long long>(choice.initial_pulls) * K) return {t % K, 0};
  const auto words = decision_words(group, g, t);
  const double floor = choice.floor_at(t);
  if (floor > 0.0 && uniform(words[0], words[1]) < floor) return {static_cast<int>(index_below(K, words[2])), 0};
  return {-1, static_cast<int>(index_below(group.particles, floor > 0.0 ? words[2] : words[0]))};
}

}  // namespace pits::cuda
