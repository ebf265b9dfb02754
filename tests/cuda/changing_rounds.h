// Problems that show what a mixture has and exact last layers have not: a number for what is missing, heavy tails, and
// a truth that switches.
#pragma once

#include "cuda/random_group.h"
#include "pits/agent/presets.h"

namespace pits::cuda {

inline std::vector<Case> mixture_cases() {
  const PiTsConfig config = pi_ts_preset("pi-ts", "auto");
  std::vector<Case> list = {{"a switch", config, 5, 4, 3, 900},
                            {"long contexts", config, 24, 3, 2, 500},
                            {"longer contexts", config, 70, 2, 1, 300},
                            {"the last 200", config, 6, 3, 2, 500},
                            {"round-robin, floor, remembers all", config, 6, 3, 2, 300},
                            {"a floor while actions are cold", config, 6, 12, 2, 300},
                            {"the last 60, rewards far from 0", config, 6, 6, 2, 300, 60.0F},
                            {"longer contexts, the last 80", config, 70, 2, 1, 300}};
  list[3].config.posterior.memory.capacity = 200;
  list[4].config.exploration.cold_start = ColdStart::round_robin;
  list[4].config.exploration.floor = 0.2;
  list[4].config.posterior.memory.adaptive = false;
  list[5].config.exploration.floor = 0.3;
  list[5].config.posterior.memory.adaptive = false;
  list[6].config.posterior.memory.adaptive = false;
  list[6].config.posterior.memory.capacity = 60;
  list[7].config.posterior.memory.capacity = 80;
  for (Case& c : list) {
    c.config.posterior.particles = 3;
    c.config.posterior.last_layer.held_draws = 7;
    c.config.posterior.model.hidden = {20};
  }
  return list;
}

// Rewards linear in the contexts, with other coefficients from the middle on; the first column is −999 in every ninth
// round, the second has heavy tails.
inline Setting changing_rounds(const Case& c) {
  Setting s(c, 41);
  Stream stream({.seed = 42});
  std::vector<float> beta(2 * c.d * c.K);
  stream.fill_normal(beta, 2.0F / std::sqrt(static_cast<float>(c.d)));
  for (std::size_t round = 0; round < c.G * c.seen; ++round) {
    const bool later = round % c.seen >= c.seen / 2;
    float* x = s.contexts.data() + round * c.d;
    for (std::size_t a = 0; a < c.K; ++a) {
      float& r = s.rewards[round * c.K + a];
      r = c.level + 0.3F * r;
      for (std::size_t j = 0; j < c.d; ++j) r += beta[((later ? c.K : 0) + a) * c.d + j] * x[j];
    }
    if (round % 9 == 4) x[0] = -999.0F;
    x[1] = std::exp(4.0F * x[1]);
  }
  return s;
}

}  // namespace pits::cuda
