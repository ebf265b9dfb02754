// Ensemble sampling (Lu & Van Roy 2017): each network fits rewards with its own N(0, noise_sd²) added and is
// regularised towards its own draw from the prior. For a linear model each one ends at an exact posterior draw.
#pragma once

#include "pits/agent/pi_ts.h"

namespace pits {

inline PiTsConfig ensemble_sampling_preset(std::string_view) {
  PiTsConfig c = pi_ts_preset("paper");
  c.posterior.flow.kind = FlowKind::ensemble;
  c.posterior.perturbation = {.rewards = true, .anchors = true};
  return c;
}

}  // namespace pits
