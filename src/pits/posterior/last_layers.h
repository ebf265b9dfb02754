// Particles whose last layer is exact: for every particle and action a Bayesian regression of the rewards on the
// particle's last hidden units, the context itself where it is short, and 1. The networks learn features; what they
// mean for the rewards is learned in closed form, with every observation as it comes, and how strongly features may
// count is chosen by the evidence (evidence.h).
//
// Each particle holds one draw from its regressions between trainings, so that the share of particles that prefer an
// action is its probability, as in any set of particles:
//   m_i(x, a) = clamp(mean_a·φ_i(x)) + κ σ_a (Lᵀ_a⁻¹ z_a)·φ_i(x),   z ~ N(0, I).
// The mean is kept within the rewards seen so far and a margin: a line that runs out of them in a corner of the
// contexts would rule an action out there that nobody has tried.
#pragma once

#include <span>
#include <vector>

#include "pits/posterior/evidence.h"
#include "pits/posterior/particles.h"

namespace pits {

enum class LastLayerKind { trained, exact };
template <>
struct EnumNames<LastLayerKind> {
  static const std::vector<std::string>& names();
};

struct LastLayerConfig {
  LastLayerKind kind = LastLayerKind::trained;
  double exploration = 0.25;  // κ: how far draws lie from the mean, in posterior standard deviations
  double doubt = 4.0;         // of the rewards' scale while it is not known; 1: others may be as large as those seen
  double noise_shape = 2.0;   // a0, b0 of the inverse-gamma prior of the noise variance
  double noise_scale = 0.3;
  int linear_inputs = 64;    // contexts of at most this many numbers are features too
  bool optimistic = false;   // draws below the mean count as the mean (May et al. 2012)
  bool train_noise = false;  // networks are trained with the noise found here where it is above their own
};
Fields fields(LastLayerConfig& config);

// How means are kept within the rewards, and how spreads of draws are chosen.
struct LastLayerRules {
  static constexpr double margin = 0.1;  // of the rewards' range, by which means may leave it
  // Until rewards have differed by as much as they are large, their scale is not known: others may be of the size of
  // those seen. That doubt fades as an action is pulled, as the prior of a noise variance that weighs this many pairs
  // of observations would.
  static constexpr double doubt_weight = 20.0;
  // An action whose rewards are noisier than the others' has a noise of its own, which starts from theirs as if this
  // many pairs of observations had shown it. A quieter one keeps the shared noise: an action that always pays the same
  // until now would otherwise soon be certain, and one that pays nothing whatever happens would make all others
  // certain.
  static constexpr double own_weight = 2.0;
};

// Whether contexts are features of a network's last layer.
bool inputs_are_features(const LastLayerConfig& config, const Network& network);
// The features that share a prior, and how it begins: hidden units, contexts where they are features, 1.
std::vector<CoefficientGroup> coefficient_groups(const LastLayerConfig& config, const Network& network);

// What decisions need of last layers; a copy of it decides without them.
struct DrawnLayers {
  std::size_t actions = 0;
  bool inputs = false;  // contexts are features too
  bool optimistic = false;
  Matrix<float> mean, deviation;  // (M·K,F): row i·K + a
  Matrix<float> spread;           // (M,K) κσ
  float low = 0.0F, high = 0.0F;  // where means are kept

  // Rewards of every action, (K), by particle i; x as the networks see it. All in the networks' units.
  void values(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
              Network::Workspace& w, std::span<float> out) const;
};

class LastLayers {
 public:
  LastLayers(const LastLayerConfig& config, const ParticlePosterior& posterior, const Address& address);

  // One more observation of the posterior.
  void observe(const ParticlePosterior& posterior, const Observation& observation);
  // All of its observations anew, after the networks or the units have changed.
  void fit(const ParticlePosterior& posterior);
  // After the posterior has got n more actions.
  void add_actions(const ParticlePosterior& posterior, std::size_t n);

  const DrawnLayers& drawn() const { return drawn_; }
  const BayesLinear& regression(std::size_t particle, std::size_t action) const {
    return regressions_[particle * drawn_.actions + action];
  }
  std::span<const CoefficientGroup> groups(std::size_t particle) const { return groups_[particle]; }
  double noise_variance(std::size_t particle) const;  // σ² of the particle's regressions
  double noise_variance(const Units& units, std::size_t particle, std::size_t action) const;  // σ_a²
  // σ that the networks are to be trained with, out (M), where their own is own_sd; empty: with that.
  void training_noise(double own_sd, std::vector<float>& out) const;

  void state(Archive& archive);

 private:
  BayesLinearConfig noise() const { return {.lambda = 1.0, .a0 = config_.noise_shape, .b0 = config_.noise_scale}; }
  void sum_up(const ParticlePosterior& posterior, std::size_t particle);
  BayesLinear fresh(std::span<const CoefficientGroup> groups) const;
  void draw(std::size_t first);                         // z anew, of actions from `first` on
  void show(std::size_t particle, std::size_t action);  // what drawn_ holds of a regression
  void show_spread(const Units& units);
  double noise_variance(double shared, double doubt, std::size_t particle, std::size_t action) const;

  LastLayerConfig config_;
  Address address_;
  std::size_t features_;                               // F
  std::vector<BayesLinear> regressions_;               // (M·K)
  std::vector<std::vector<CoefficientGroup>> groups_;  // (M)
  Matrix<double> draws_;                               // (M·K,F) z
  DrawnLayers drawn_;
  std::uint32_t fits_ = 0;
  std::vector<RegressionSums> sums_;  // (K) scratch of fit()
};

}  // namespace pits
