// Independent networks on the same data, one drawn a round: they differ by where they start.
#pragma once

#include "pits/agent/network_agent.h"

namespace pits {

inline PiTsConfig ensemble_preset(std::string_view name) {
  PiTsConfig c = independent_particles(20, name);
  if (name == "auto") c.posterior.model.noise_sd = 0.3;  // of 0.3, 0.5 and 1 the best (docs/regret.md)
  return c;
}

}  // namespace pits
