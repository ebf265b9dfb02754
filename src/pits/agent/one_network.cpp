#include "pits/agent/one_network.h"

namespace pits {

OneNetwork::OneNetwork(const NetworkConfig& config, const AgentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      posterior_(config.network, setup.context_size, setup.actions, setup.seed, setup.realization) {}

void OneNetwork::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    posterior_.observe({.context = event.x, .action = event.action, .reward = event.reward});
    on_event(event);
    if (posterior_.history().seen() % static_cast<std::uint64_t>(config_.train_every) != 0) continue;
    posterior_.train(config_.train_steps);
    on_training();
  }
}

void OneNetwork::add_actions(std::size_t n) {
  check_parameters(RewardModel(config_.network.model, setup_.context_size, setup_.actions + n).parameters());
  const ParameterMap map = posterior_.add_actions(n);
  setup_.add_actions(n);
  on_new_actions(n, map);
}

}  // namespace pits
