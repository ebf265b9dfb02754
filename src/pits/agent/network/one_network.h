// Base class of agents with one trained network and extra state (a design matrix, regressions, a noise scale).
#pragma once

#include "pits/agent/presets.h"

namespace pits {

// The settings of pi-ts for one network, with fewer fields.
struct NetworkConfig {
  PosteriorConfig posterior = showdown_networks(1);
  Exploration exploration{};
};
Fields fields(NetworkConfig& config);

class OneNetwork : public Agent {
 public:
  bool training_due() const override { return posterior_.training_due(); }
  void train() override {
    posterior_.train();
    on_training();
  }

  const Posterior& posterior() const { return posterior_; }
  const RewardModel& model() const { return posterior_.model(); }
  std::span<const float> theta() const { return posterior_.particles().row(0); }

 protected:
  OneNetwork(const NetworkConfig& config, const AgentSetup& setup);

  void observe(const Feedback& event) override;
  void state(Archive& archive) override { archive.version("OneNetwork", 1)(posterior_); }
  void grow(std::size_t n) override;

  // After the event joined the history and before any training; after each training.
  virtual void on_event(const Feedback&) {}
  virtual void on_training() {}
  // Throws where the agent cannot have a network of this size.
  virtual void check_parameters(std::size_t) const {}
  // After the network got n more outputs; `map` says where its parameters lie now.
  virtual void on_new_actions(std::size_t, std::span<const std::size_t>) {}

  // The network's own predictions, as values().
  void predict(ContextView x, std::span<double> out) const;
  double discount() const { return posterior_.config().memory.discount; }

 private:
  Posterior posterior_;
};

}  // namespace pits
