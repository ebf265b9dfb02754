// Bayesian logistic regressions, one with intercept for each action, on the last hidden units of a network: neural
// linear for rewards in 0..1. The network is trained on the cross-entropy; after each training the regressions are
// fitted to all observations by Laplace's approximation, and every round in between updates the played action's.
#pragma once

#include "pits/agent/network/one_network.h"
#include "pits/posterior/bayes_logistic.h"

namespace pits {

struct NeuralLogisticConfig {
  NetworkConfig network{};
  BayesLogisticConfig regression{};
};
Fields fields(NeuralLogisticConfig& config);

class NeuralLogistic : public Cloned<NeuralLogistic, OneNetwork> {
 public:
  NeuralLogistic(const NeuralLogisticConfig& config, const AgentSetup& setup);

  const BayesLogistic& regression(Action a) const { return regressions_[a]; }

 private:
  void values(ContextView x, Stream& stream, std::span<double> out) const override;
  bool value_laws(ContextView x, std::span<ValueLaw> out) const override;
  void on_event(const Feedback& event) override;
  void on_training() override;
  void on_new_actions(std::size_t n, std::span<const std::size_t> map) override;
  void state(Archive& archive) override {
    OneNetwork::state(archive);
    archive.version("NeuralLogistic", 1)(regressions_);
  }

  BayesLogisticConfig regression_;
  std::vector<BayesLogistic> regressions_;  // (K)
};

// The last hidden units for a context, and 1.
Eigen::VectorXd units_with_intercept(const RewardModel& model, std::span<const float> theta, ContextView x);

}  // namespace pits
