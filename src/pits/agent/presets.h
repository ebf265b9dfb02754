// Presets: every agent that differs from pi-ts by settings alone is a row of one table (presets.cpp).
#pragma once

#include <string_view>
#include <vector>

#include "pits/agent/particle/pi_ts.h"

namespace pits {

struct PiTsPreset {
  std::string_view agent, name, summary;
  PiTsConfig (*config)();
};
const std::vector<PiTsPreset>& pi_ts_presets();

// The settings of a row; throws where there is none.
PiTsConfig pi_ts_preset(std::string_view agent, std::string_view name);

// The networks of the showdown (Riquelme et al. 2018), which the paper's baselines share. The showdown's code means to
// restart the step size at every training, but its optimiser never sees the new one: what ran is restart = false.
PosteriorConfig showdown_networks(int particles, bool restart = false);

}  // namespace pits
