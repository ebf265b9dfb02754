// Boltzmann exploration on a network: an action's probability is proportional to exp(predicted reward / temperature).
// With gumbel (Cesa-Bianchi et al. 2017): the best of predicted reward + scale/√N_a · Gumbel noise, N_a the pulls of
// action a so far, so that an action's exploration ends as it becomes known.
#pragma once

#include "pits/agent/network/one_network.h"

namespace pits {

struct BoltzmannConfig {
  NetworkConfig network{};
  double temperature = 0.1;
  bool gumbel = false;
  double gumbel_scale = 1.0;  // C
};
Fields fields(BoltzmannConfig& config);

// out (K): exp(v_a/temperature) over its sum, 0 for actions that are not allowed.
void softmax(std::span<const double> values, double temperature, const ActionSet& actions, std::span<double> out);

class Boltzmann : public Cloned<Boltzmann, OneNetwork> {
 public:
  Boltzmann(const BoltzmannConfig& config, const AgentSetup& setup)
      : Cloned(checked(config).network, setup), config_(config), pulls_(setup.actions) {}

 private:
  Action decide(const Query& query, Stream& stream, ActionProbabilities* exact) const override;
  void add_gumbel_noise(Stream& stream, std::span<double> values) const;
  void on_event(const Feedback& event) override { ++pulls_[event.action]; }
  void on_new_actions(std::size_t n, std::span<const std::size_t>) override { pulls_.resize(actions() + n); }
  void state(Archive& archive) override {
    OneNetwork::state(archive);
    archive.version("Boltzmann", 1)(pulls_);
  }

  BoltzmannConfig config_;
  std::vector<std::uint64_t> pulls_;  // (K)
};

}  // namespace pits
