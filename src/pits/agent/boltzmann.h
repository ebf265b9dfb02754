// Boltzmann exploration on a network: an action's probability is proportional to exp(predicted reward / temperature).
// With gumbel (Cesa-Bianchi et al. 2017): the best of predicted reward + scale/√N_a · Gumbel noise, N_a the pulls of
// action a so far, so that an action's exploration ends as it becomes known.
#pragma once

#include "pits/agent/network_agent.h"

namespace pits {

struct BoltzmannConfig {
  NetworkConfig network{};
  double temperature = 0.1;
  bool gumbel = false;
  double gumbel_scale = 1.0;  // C
};
Fields fields(BoltzmannConfig& config);
BoltzmannConfig boltzmann_preset(std::string_view name);

// (K): exp(v_a/temperature) over its sum, 0 for actions that are not allowed.
std::vector<double> softmax(std::span<const float> values, double temperature, const ActionSet& actions);

// Decisions by a network that somebody else owns.
struct BoltzmannDraw {
  const RewardModel& model;
  std::span<const float> theta;
  const BoltzmannConfig& config;
  const std::vector<std::uint64_t>& pulls;  // (K) so far
  std::uint64_t events;
  AgentSetup setup;

  Decision choose(const Query& query) const;
  // Exact without Gumbel noise; false with it.
  bool propensities(const Query& query, std::span<float> p) const;

 private:
  std::vector<float> predictions(ContextView x) const;  // (K)
};

class Boltzmann : public Agent {
 public:
  Boltzmann(const BoltzmannConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override { return draw().choose(query); }
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override;
  void state(Archive& archive) override { archive(network_, pulls_); }
  void add_actions(std::size_t n) override;
  double propensities(const Query& query, std::uint32_t draws, std::span<float> p) const override;

  const ParticlePosterior& network() const { return network_.posterior(); }

 private:
  BoltzmannDraw draw() const;

  BoltzmannConfig config_;
  AgentSetup setup_;
  PiTs network_;
  std::vector<std::uint64_t> pulls_;  // (K)
};

}  // namespace pits
