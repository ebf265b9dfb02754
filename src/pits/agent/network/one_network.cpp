#include "pits/agent/network/one_network.h"

#include <algorithm>

namespace pits {

Fields fields(NetworkConfig& c) {
  return Fields{}.merge(network_fields(c.posterior)).merge(fields(c.exploration)).merge(fields(c.posterior.training));
}

OneNetwork::OneNetwork(const NetworkConfig& config, const AgentSetup& setup)
    : Agent(setup, checked(config).exploration),
      posterior_(config.posterior, setup.context_size, setup.actions,
                 {.seed = setup.seed, .realization = setup.realization}) {}

void OneNetwork::observe(const Feedback& event) {
  if (posterior_.learn(event.observation(), trains_in_line(), [&] { on_event(event); })) on_training();
}

void OneNetwork::grow(std::size_t n) {
  check_parameters(RewardModel(posterior_.config().model, setup().context_size, actions() + n).parameters());
  on_new_actions(n, posterior_.add_actions(n));
}

void OneNetwork::predict(ContextView x, std::span<double> out) const {
  thread_local std::vector<float> values;
  values.resize(out.size());
  posterior_.values(0, x, values);
  std::ranges::copy(values, out.begin());
}

}  // namespace pits
