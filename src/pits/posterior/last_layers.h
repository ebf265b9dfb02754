// Particles whose last layer is exact: for every particle and action a Bayesian regression of the rewards on the
// particle's last hidden units, the context itself where it is short, and 1. The networks learn features; what they
// mean for the rewards is learned in closed form, with every observation as it comes, and how strongly features may
// count is chosen by the evidence (evidence.h).
//
// Each particle holds one draw from its regressions between trainings, so that the share of particles that prefer an
// action is its probability, as in any set of particles:
//   r_i(x, a) = m̄(x, a) + ρ (m_i(x, a) − m̄(x, a)) + κ σ_a (Lᵀ_a⁻¹ z_a)·φ_i(x),   z ~ N(0, I),
// where m_i = clamp(mean_a·φ_i(x)) and m̄ is the mean of m_1 .. m_M: networks trained on the same data differ by more
// than the data leave open, and their mean predicts better than any of them.
// The mean is kept within the rewards seen so far and a margin: a line that runs out of them in a corner of the
// contexts would rule an action out there that nobody has tried.
#pragma once

#include <span>
#include <vector>

#include "pits/posterior/last_layer_config.h"
#include "pits/posterior/particles.h"

namespace pits {

// What decisions need of last layers; a copy of it decides without them.
struct DrawnLayers {
  std::size_t actions = 0;
  bool inputs = false;  // contexts are features too
  bool optimistic = false;
  float disagreement = 1.0F;      // ρ
  Matrix<float> mean, deviation;  // (M·K,F): row i·K + a
  Matrix<float> spread;           // (M,K) κσ
  float low = 0.0F, high = 0.0F;  // where means are kept

  bool alone() const { return disagreement == 1.0F; }  // a particle's rewards do not depend on the others
  // Rewards of every action by every particle, (M,K); x as the networks see it. All in the networks' units.
  void values(const Network& network, ParticlesView theta, std::span<const float> x, Network::Workspace& w,
              Matrix<float>& out) const;
  // The same of particle i, (K), where it is alone.
  void values(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
              Network::Workspace& w, std::span<float> out) const;

 private:
  // Its means, (K), and how far its draws lie from them.
  void means(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
             Network::Workspace& w, std::span<float> mean_out, std::span<float> offset) const;
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
    return regressions_[set_of(particle) * drawn_.actions + action];
  }
  std::span<const CoefficientGroup> groups(std::size_t particle) const { return groups_[set_of(particle)]; }
  double noise_variance(std::size_t particle) const;                      // σ² of the particle's regressions
  double noise_variance(std::size_t particle, std::size_t action) const;  // σ_a², without the doubt of the scale
  // σ that the networks are to be trained with, out (M), where their own is own_sd; empty: with that. `width` is how
  // many of their units a unit of the regressions is: the networks' may have settled since.
  void training_noise(double own_sd, double width, std::vector<float>& out) const;

  void state(Archive& archive);

 private:
  BayesLinearConfig noise() const { return {.lambda = 1.0, .a0 = config_.noise_shape, .b0 = config_.noise_scale}; }
  // Particles of a linear model have the same features, and so one set of regressions, S = 1; others S = M.
  std::size_t set_of(std::size_t particle) const { return groups_.size() == 1 ? 0 : particle; }
  std::size_t particles() const { return drawn_.spread.rows(); }  // M
  void sum_up(const ParticlePosterior& posterior, std::size_t particle);
  BayesLinear fresh(std::span<const CoefficientGroup> groups) const;
  void draw(std::size_t first);                         // z anew, of actions from `first` on
  void show(std::size_t particle, std::size_t action);  // what drawn_ holds of a regression
  void show_spread(const Units& units);
  double noise_variance(double shared, double doubt, std::size_t particle, std::size_t action) const;

  LastLayerConfig config_;
  Address address_;
  std::size_t features_;                               // F
  std::vector<BayesLinear> regressions_;               // (S·K)
  std::vector<std::vector<CoefficientGroup>> groups_;  // (S)
  Matrix<double> draws_;                               // (M·K,F) z
  DrawnLayers drawn_;
  std::uint32_t fits_ = 0;
  std::vector<RegressionSums> sums_;  // (K) scratch of fit()
};

}  // namespace pits
