// Bayes by backprop (Blundell et al. 2015): the posterior as one Gaussian, independent over the weights of a network,
// fitted by ascending the evidence bound
//   (1/B) Σ_b log N(r_b; m_b, noise_sd²) − kl · KL(q ‖ prior)/n,   n observations so far,
// with local reparameterisation. Biases are numbers without a prior. The defaults are the showdown's (Riquelme et al.
// 2018).
#pragma once

#include "pits/flow/optimizer.h"
#include "pits/model/gaussian_network.h"
#include "pits/posterior/history.h"

namespace pits {

struct MeanFieldConfig {
  std::vector<int> hidden = {50};
  Activation activation = Activation::relu;
  double noise_sd = 0.1;
  double prior_variance = 2.0;  // of a weight, over its layer's inputs
  double kl = 1.0;              // weight of the divergence from the prior
  double init_mean_sd = 0.05;   // means and biases start at N(0, init_mean_sd²)
  double init_log_sd = -5.0;    // log σ starts at N(init_log_sd, init_log_spread²)
  double init_log_spread = 0.05;
  OptimizerConfig optimizer = {.rule = Rule::adam, .step = 0.1};
  int batch = 512;  // B, drawn with replacement
  Memory memory{};
};
Fields fields(MeanFieldConfig& config);

class MeanField {
 public:
  MeanField(const MeanFieldConfig& config, std::size_t context_size, std::size_t actions, const Address& address);

  void observe(const Observation& observation) { history_.add(observation); }
  void train(int steps);

  // The bound's gradient by (means, log σ), (2P), for a minibatch and the noise in `w`, with n observations.
  void gradient(const Minibatch& batch, double n, GaussianNetwork::Workspace& w, std::span<float> out) const;
  // KL(q ‖ prior), over the weights.
  double divergence() const;

  const GaussianNetwork& network() const { return network_; }
  const History& history() const { return history_; }
  GaussianWeights weights() const { return {theta_.flat().first(network_.parameters()), variance_}; }
  std::int64_t steps_done() const { return optimizer_.steps_done(); }
  // Puts q at these means and log σ, (2P).
  void set_parameters(std::span<const float> theta);

  void state(Archive& archive);

  // n more actions: their parameters are drawn as at the start, all others stay as they are.
  void add_actions(std::size_t n);

 private:
  void initialise(std::uint32_t step, std::span<float> theta);
  void train_step();
  void update_variance();
  float prior_variance_of(const Layer& layer) const;

  MeanFieldConfig config_;
  GaussianNetwork network_;
  History history_;
  Address address_;
  Optimizer<float> optimizer_;
  Matrix<float> theta_;          // (1,2P): means, then log σ; those of biases stay as they are
  std::vector<float> variance_;  // (P): σ²
  Matrix<float> gradient_;       // (1,2P)
  Minibatch batch_;
  GaussianNetwork::Workspace workspace_;
};

}  // namespace pits
