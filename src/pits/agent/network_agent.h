// What agents with one network share: the showdown's network, trained on all the data now and then.
#pragma once

#include "pits/agent/best_value.h"
#include "pits/agent/showdown.h"
#include "pits/agent/training_schedule.h"

namespace pits {

struct NetworkAgentConfig {
  ParticleConfig posterior = showdown_networks(1);
  TrainingSchedule schedule{};
};
Fields fields(NetworkAgentConfig& config);

// `showdown`: what was run. `showdown-reset`: what was meant, the step size starting anew at every training.
template <class Config>
Config showdown_preset(std::string_view name) {
  Config c;
  c.network.posterior.optimizer.restart = name == "showdown-reset";
  return c;
}

class NetworkAgent : public Agent {
 public:
  NetworkAgent(const NetworkAgentConfig& config, const AgentSetup& setup);

  void learn(std::span<const Feedback> events) override;

  const ParticlePosterior& posterior() const { return posterior_; }
  std::span<const float> theta() const { return posterior_.particles().row(0); }

 protected:
  // After the event joined the history, before any training; after each training.
  virtual void on_event(const Feedback&) {}
  virtual void on_training() {}

  Stage stage(bool random = true) const {
    return {setup_, schedule_.initial_pulls, posterior_.history().seen(), random};
  }
  const RewardModel& model() const { return posterior_.model(); }
  std::vector<float> theta_copy() const { return {theta().begin(), theta().end()}; }
  const AgentSetup& setup() const { return setup_; }

 private:
  AgentSetup setup_;
  TrainingSchedule schedule_;
  ParticlePosterior posterior_;
};

}  // namespace pits
