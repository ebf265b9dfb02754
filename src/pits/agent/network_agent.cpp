#include "pits/agent/network_agent.h"

namespace pits {

Fields fields(NetworkAgentConfig& c) { return Fields{}.merge(network_fields(c.posterior)).merge(fields(c.schedule)); }

NetworkAgent::NetworkAgent(const NetworkAgentConfig& config, const AgentSetup& setup)
    : setup_(setup),
      schedule_(checked(config).schedule),
      posterior_(config.posterior, setup.context_size, setup.actions, setup.seed, setup.realization) {}

void NetworkAgent::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    posterior_.observe({.context = event.x, .action = event.action, .reward = event.reward});
    on_event(event);
    if (!schedule_.due(posterior_.history().seen())) continue;
    posterior_.train(schedule_.train_steps);
    on_training();
  }
}

}  // namespace pits
