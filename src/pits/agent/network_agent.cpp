#include "pits/agent/network_agent.h"

namespace pits {

Fields fields(NetworkConfig& c) {
  return Fields{}
      .merge(network_fields(c.network))
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0))
      .add("train_every", c.train_every, "rounds between trainings", at_least(1))
      .add("train_steps", c.train_steps, "steps in a training", at_least(1));
}

NetworkConfig network_preset(std::string_view name) {
  NetworkConfig c;
  c.network.optimizer.restart = name == "showdown-reset";
  return c;
}

PiTsConfig as_particles(const NetworkConfig& config) {
  return {.posterior = config.network,
          .initial_pulls = config.initial_pulls,
          .train_every = config.train_every,
          .train_steps = config.train_steps};
}

PiTsConfig showdown_particles(int particles, std::string_view preset) {
  PiTsConfig c = as_particles(network_preset(preset));
  c.posterior.particles = particles;
  return c;
}

PiTsConfig independent_particles(int particles, std::string_view preset) {
  if (preset != "auto") return showdown_particles(particles, preset);
  PiTsConfig c = pi_ts_preset(preset);
  c.posterior.particles = particles;
  c.posterior.flow.kind = FlowKind::ensemble;
  c.last_layer = {};
  c.posterior.model.noise_sd = 0.3;  // of 0.3, 0.5 and 1 the best of `ensemble` and `bootstrap` (docs/regret.md)
  c.posterior.optimizer.decay = 0.0045;
  return c;
}

}  // namespace pits
