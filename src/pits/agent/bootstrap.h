// Bootstrapped networks as the showdown has them (Riquelme et al. 2018): each keeps each observation with probability
// `keep`, one is drawn a round.
#pragma once

#include "pits/agent/network_agent.h"

namespace pits {

struct BootstrapConfig {
  PiTsConfig networks = showdown_particles(3, "showdown");
  double keep = 0.95;
};
Fields fields(BootstrapConfig& config);
BootstrapConfig bootstrap_preset(std::string_view name);

class Bootstrap : public PiTs {
 public:
  Bootstrap(const BootstrapConfig& config, const AgentSetup& setup);
};

}  // namespace pits
