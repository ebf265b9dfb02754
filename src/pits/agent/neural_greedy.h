// Always the action that one network thinks best: no exploration beyond the initial pulls.
#pragma once

#include "pits/agent/network_agent.h"

namespace pits {

class NeuralGreedy : public PiTs {
 public:
  NeuralGreedy(const NetworkConfig& config, const AgentSetup& setup) : PiTs(as_particles(config), setup) {}
};

}  // namespace pits
