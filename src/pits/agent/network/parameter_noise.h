// Parameter noise (Plappert et al. 2018): a decision adds N(0, σ²) to every weight and bias of a trained network and
// plays the best action. After each training σ grows where the noise changes the softmax of the outputs by less than
// an ε-greedy policy would, and shrinks where by more; ε falls. As the showdown (Riquelme et al. 2018) sets it.
#pragma once

#include "pits/agent/network/one_network.h"

namespace pits {

struct ParameterNoiseConfig {
  NetworkConfig network{};
  double sigma = 0.05;          // the first σ
  double epsilon = 0.1;         // the first ε
  double epsilon_decay = 0.99;  // its factor at every training
  double growth = 1.01;         // σ's factor, or its inverse
  int samples = 300;            // contexts of the history that the distance averages over
};
Fields fields(ParameterNoiseConfig& config);

// The outputs for one context of a network with N(0, sigma²) added to every weight and bias. Drawn unit by unit: a
// unit with inputs h receives N(0, sigma² (‖h‖² + 1)).
void noisy_outputs(const Network& network, std::span<const float> theta, double sigma, std::span<const float> x,
                   Stream& stream, std::span<float> out);

// KL(softmax(p) ‖ softmax(q)).
double softmax_divergence(std::span<const float> p, std::span<const float> q);

// −log(1 − ε + ε/K): how far an ε-greedy policy is from the greedy one.
double greedy_divergence(double epsilon, std::size_t K);

class ParameterNoise : public Cloned<ParameterNoise, OneNetwork> {
 public:
  ParameterNoise(const ParameterNoiseConfig& config, const AgentSetup& setup);

  double sigma() const { return sigma_; }
  double epsilon() const { return epsilon_; }

 private:
  void values(ContextView x, Stream& stream, std::span<double> out) const override;
  void on_training() override;
  void state(Archive& archive) override {
    OneNetwork::state(archive);
    archive.version("ParameterNoise", 1)(sigma_, epsilon_, trainings_);
  }
  double mean_divergence() const;

  ParameterNoiseConfig config_;
  double sigma_;
  double epsilon_;
  std::uint32_t trainings_ = 0;
};

}  // namespace pits
