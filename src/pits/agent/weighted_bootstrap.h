// The weighted likelihood bootstrap (Newton & Raftery 1994) with networks: each weighs each observation's likelihood by
// its own draw from Exp(1), one is drawn a round.
#pragma once

#include "pits/agent/network_agent.h"

namespace pits {

inline PiTsConfig weighted_bootstrap_preset(std::string_view name) {
  PiTsConfig c = showdown_particles(20, name);
  c.posterior.perturbation.weights = MarkWeights::exponential;
  return c;
}

}  // namespace pits
