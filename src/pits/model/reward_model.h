// m(x, a; θ), the model of the reward, its log posterior U(θ) and the score ∇U(θ), for all particles at once.
//
//   U(θ) = scale · Σ_b log p(r_b | x_b, a_b, θ) + log p0(θ)
//
// A model is a network (none hidden: linear), a likelihood (Gaussian with fixed or learned noise, Bernoulli) and a
// Gaussian prior. The parameters of a particle are the network's, then log σ where the noise is learned.
#pragma once

#include <cstddef>
#include <span>

#include "pits/core/random.h"
#include "pits/model/network.h"

namespace pits {

enum class ModelKind { linear, logistic, mlp, mlp_logistic };
template <>
inline constexpr auto enum_names<ModelKind> = std::array{"linear", "logistic", "mlp", "mlp-logistic"};
enum class Noise { fixed, learned, learned_per_action };
template <>
inline constexpr auto enum_names<Noise> = std::array{"fixed", "learned", "learned-per-action"};
enum class PriorScale { same, fan_in };
template <>
inline constexpr auto enum_names<PriorScale> = std::array{"same", "fan-in"};
enum class Init { prior, fan_in, uniform };
template <>
inline constexpr auto enum_names<Init> = std::array{"prior", "fan-in", "uniform"};

struct ModelConfig {
  ModelKind kind = ModelKind::mlp;
  std::vector<int> hidden = {50};
  Activation activation = Activation::relu;
  Noise noise = Noise::fixed;
  double noise_sd = 0.1;      // σ of the Gaussian likelihood; where learned, the centre of its prior
  double noise_log_sd = 1.0;  // learned: sd of log σ under its prior
  PriorScale prior = PriorScale::fan_in;
  double prior_precision = 1.0;  // of every weight and bias; fan_in multiplies it by the layer's inputs
  Init init = Init::prior;  // fan_in: weights of variance 1/(inputs+1), biases 0; uniform: U(−range, range), biases 0
  double init_range = 0.3;
  int heads = 1;  // the outputs are those of this many heads on one body, whose gradient is divided by their number
};
Fields fields(ModelConfig& config);

class RewardModel {
 public:
  RewardModel(const ModelConfig& config, std::size_t context_size, std::size_t actions);

  std::size_t context_size() const { return network_.inputs(); }
  std::size_t actions() const { return network_.outputs(); }
  std::size_t parameters() const { return network_.parameters() + noise_parameters(); }  // P
  bool bernoulli() const;
  const Network& network() const { return network_; }

  // σ of the Gaussian likelihood that a particle has for an action.
  float noise_sd(std::span<const float> theta, std::size_t action) const;

  void initialise(Stream& stream, MatrixView<float> theta) const;

  // Mean reward of every action for one context, (K): one particle, or all of them (M,K).
  void predict(std::span<const float> theta, std::span<const float> x, Network::Workspace& w,
               std::span<float> out) const;
  void predict(ParticlesView theta, std::span<const float> x, Network::Workspace& w, MatrixView<float> out) const;

  // score(i,·) = ∇U(θ_i), (M,P). Where anchors (M,P) are given, particle i's prior is centred at anchor i; where
  // noise_sd (M) is, it takes the place of a fixed noise in particle i's likelihood.
  void score(ParticlesView theta, const Minibatch& batch, Network::Workspace& w, MatrixView<float> score,
             ParticlesView anchors = {}, std::span<const float> noise_sd = {}) const;

 private:
  std::size_t noise_parameters() const;
  std::size_t noise_index(std::size_t action) const;
  // One particle's view of a minibatch: its weights and offsets, (B) or empty, and its noise where that is fixed.
  struct Marks {
    std::span<const float> weights, offsets;
    float noise_sd;
  };
  void likelihood_score(std::span<const float> theta, const Minibatch& batch, const Marks& marks, Network::Workspace& w,
                        std::span<float> gradient) const;
  void prior_score(std::span<const float> theta, std::span<const float> anchor, std::span<float> score) const;
  float prior_precision_of(const Layer& layer) const;

  ModelConfig config_;
  Network network_;
};

}  // namespace pits
