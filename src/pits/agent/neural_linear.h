// Neural linear: Thompson sampling by exact Bayesian regressions, one for each action, on the last hidden units of a
// network that is trained on all the data now and then (Snoek et al. 2015; Riquelme et al. 2018). With several
// particles each has regressions of its own, and one particle is drawn a round.
#pragma once

#include "pits/agent/agent.h"
#include "pits/agent/showdown.h"
#include "pits/posterior/bayes_linear.h"

namespace pits {

struct NeuralLinearConfig {
  ParticleConfig networks = showdown_networks(1);
  BayesLinearConfig prior{};
  int initial_pulls = 2;     // forced pulls of each action
  int train_every = 50;      // rounds between trainings of the network; the regressions learn every round
  double train_share = 0.0;  // late ones are at least this share of the rounds that are remembered apart
  int train_steps = 100;
};
Fields fields(NeuralLinearConfig& config);

// `auto`: the networks of pi-ts:auto and its units. `showdown`: what was run. `showdown-reset`: what was meant, the
// step size starting anew at every training.
NeuralLinearConfig neural_linear_preset(std::string_view name);

// Decisions by networks and regressions that somebody else owns.
struct LastLayerDraw {
  const RewardModel& model;
  ParticlesView theta;  // (M,P)
  const Units& units;
  const std::vector<BayesLinear>& regressions;  // (M,K)
  int initial_pulls;
  std::uint64_t events;  // learned so far
  AgentSetup setup;

  Decision choose(const Query& query) const;
  // Mean rewards, (K), by one draw from the regressions of a particle; in the networks' units.
  void draw(std::size_t particle, ContextView x, Stream& stream, std::span<double> out) const;
};

class NeuralLinear : public Agent {
 public:
  NeuralLinear(const NeuralLinearConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override { return draw().choose(query); }
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override;
  void state(Archive& archive) override { archive(networks_, regressions_, trained_at_); }
  void add_actions(std::size_t n) override;
  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override;

  const ParticlePosterior& networks() const { return networks_; }
  const BayesLinear& regression(std::size_t particle, Action a) const {
    return regressions_[particle * setup_.actions + a];
  }

 private:
  LastLayerDraw draw() const;
  bool training_is_due() const;
  void observe(const Feedback& event);  // one more observation for the regressions of its action
  void refit();                         // all regressions on the features of the networks as they are now

  NeuralLinearConfig config_;
  AgentSetup setup_;
  ParticlePosterior networks_;
  std::vector<BayesLinear> regressions_;  // (M,K)
  std::uint64_t trained_at_ = 0;          // rounds seen when the last training was
  std::vector<RegressionSums> sums_;      // (K) scratch of refit()
};

}  // namespace pits
