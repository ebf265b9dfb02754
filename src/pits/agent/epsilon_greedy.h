// ε-greedy: a random action with probability ε/(1 + decay·t), else the one that the network thinks best. model=linear
// makes the network a linear model.
#pragma once

#include "pits/agent/network_agent.h"

namespace pits {

struct EpsilonGreedyConfig {
  NetworkConfig network{};
  double epsilon = 0.05;
  double decay = 0.0;
};
Fields fields(EpsilonGreedyConfig& config);
EpsilonGreedyConfig epsilon_greedy_preset(std::string_view name);

class EpsilonGreedy : public PiTs {
 public:
  EpsilonGreedy(const EpsilonGreedyConfig& config, const AgentSetup& setup);
};

}  // namespace pits
