#include "pits/agent/epsilon_greedy.h"

namespace pits {
namespace {

PiTsConfig with_floor(const EpsilonGreedyConfig& config) {
  PiTsConfig c = as_particles(checked(config).network);
  c.floor = config.epsilon;
  c.floor_decay = config.decay;
  return c;
}

}  // namespace

Fields fields(EpsilonGreedyConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .add("explore", c.epsilon, "epsilon: probability of a random action", between(0, 1))
      .add("explore_decay", c.decay, "after t rounds the probability is explore/(1 + explore_decay·t)", at_least(0));
}

EpsilonGreedyConfig epsilon_greedy_preset(std::string_view name) { return {.network = network_preset(name)}; }

EpsilonGreedy::EpsilonGreedy(const EpsilonGreedyConfig& config, const AgentSetup& setup)
    : PiTs(with_floor(config), setup) {}

}  // namespace pits
