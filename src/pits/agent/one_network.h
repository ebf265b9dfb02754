// What agents share that act on the one network they train, and learn something beside it.
#pragma once

#include "pits/agent/best_value.h"
#include "pits/agent/network_agent.h"

namespace pits {

// The config of an agent that calls its NetworkConfig `network`, by the name of the network's preset.
template <class Config>
Config one_network_preset(std::string_view name) {
  Config c;
  c.network = network_preset(name);
  return c;
}

class OneNetwork : public Agent {
 public:
  OneNetwork(const NetworkConfig& config, const AgentSetup& setup);

  void learn(std::span<const Feedback> events) override;
  void state(Archive& archive) override { archive(posterior_); }
  void add_actions(std::size_t n) override;

  const ParticlePosterior& posterior() const { return posterior_; }
  const RewardModel& model() const { return posterior_.model(); }
  std::span<const float> theta() const { return posterior_.particles().row(0); }

 protected:
  // After the event joined the history, before any training; after each training.
  virtual void on_event(const Feedback&) {}
  virtual void on_training() {}
  // After the network got n more outputs; `map` says where its parameters lie now.
  // Throws where the agent cannot have a network of this size.
  virtual void check_parameters(std::size_t) const {}
  virtual void on_new_actions(std::size_t, std::span<const std::size_t>) {}

  Stage stage(bool random = true) const { return {setup_, config_.initial_pulls, posterior_.history().seen(), random}; }
  std::vector<float> theta_copy() const { return {theta().begin(), theta().end()}; }
  const AgentSetup& setup() const { return setup_; }
  double discount() const { return config_.network.discount; }

 private:
  NetworkConfig config_;
  AgentSetup setup_;
  ParticlePosterior posterior_;
};

}  // namespace pits
