// Exact last layers: for every particle and action a Bayesian regression of the rewards on features, which are the
// particle's last hidden units, the context itself where it is short, and 1. The networks learn features; the
// regressions learn in closed form, with every observation, and the evidence chooses their prior precisions
// (evidence.h).
//
// Each particle holds one draw from its regressions between trainings, so that the share of particles that prefer an
// action is its probability:
//   r_i(x, a) = m̄(x, a) + ρ (m_i(x, a) − m̄(x, a)) + κ σ_a (Lᵀ_a⁻¹ z_a)·φ_i(x),   z ~ N(0, I),
// where m_i = clamp(mean_a·φ_i(x)) and m̄ is the mean of m_1 .. m_M: networks trained on the same data differ by more
// than the data leave open, and their mean predicts better than any of them.
#pragma once

#include <span>
#include <vector>

#include "pits/core/value.h"
#include "pits/flow/velocity.h"
#include "pits/model/network.h"
#include "pits/posterior/evidence.h"
#include "pits/posterior/history.h"
#include "pits/posterior/last_layer_config.h"
#include "pits/posterior/sampled_heads.h"
#include "pits/posterior/standardiser.h"

namespace pits {

class Posterior;

// The standard deviation that the scale prior adds to draws, in the networks' units.
double scale_prior_sd(const Standardiser& standardiser, double scale_prior);

// A part of Posterior, which calls it in the right order.
class LastLayers {
 public:
  LastLayers(const LastLayerConfig& config, const Posterior& posterior, const Address& address);

  // One more observation of the posterior.
  void observe(const Posterior& posterior, const Observation& observation);
  // All of its observations, after the networks or the units have changed.
  void fit(const Posterior& posterior);
  // After the posterior has got n more actions.
  void add_actions(const Posterior& posterior, std::size_t n);

  const SampledHeads& sampled() const { return sampled_; }
  // Mean rewards of every action at x, (K), by a fresh draw from particle i's regressions.
  void sample(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
              Network::Workspace& w, Stream& stream, std::span<double> out) const;
  // Of sample()'s values, out (K): they are independent.
  void laws(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x, Network::Workspace& w,
            std::span<ValueLaw> out) const;
  const BayesLinear& regression(std::size_t particle, std::size_t action) const {
    return *regressions_[set_of(particle) * sampled_.actions + action];
  }
  std::span<const CoefficientGroup> groups(std::size_t particle) const { return groups_[set_of(particle)]; }
  double noise_variance(std::size_t particle) const;                      // σ² of the particle's regressions
  double noise_variance(std::size_t particle, std::size_t action) const;  // σ_a², without the scale prior
  // σ that the networks are to be trained with, out (M), where their own is own_sd; empty: with that. `width` is how
  // many of their units a unit of the regressions is: the networks' may have been refreshed since.
  void training_noise(double own_sd, double width, std::vector<float>& out) const;

  void state(Archive& archive);

 private:
  struct Sums {
    std::vector<RegressionSums> of;  // (K)
  };

  BayesLinearConfig noise() const { return {.lambda = 1.0, .a0 = config_.noise_shape, .b0 = config_.noise_scale}; }
  bool held() const { return config_.draws == HeadDraws::held; }
  // Particles of a linear model have the same features, and so one set of regressions, S = 1; others S = M.
  std::size_t set_of(std::size_t particle) const { return groups_.size() == 1 ? 0 : particle; }
  std::size_t particles() const { return sampled_.draw_sd.rows(); }  // M
  void accumulate(const Posterior& posterior, std::size_t particle);
  BayesLinear prior_regression(std::span<const CoefficientGroup> groups) const;
  void draw(std::size_t first);                                // new z of the actions from `first` on
  void materialise(std::size_t particle, std::size_t action);  // what sampled_ holds of a regression
  void update_draw_sd(const Standardiser& standardiser);
  double noise_variance(double shared, double scale_sd, std::size_t particle, std::size_t action) const;

  LastLayerConfig config_;
  Address address_;
  std::size_t features_;                               // F
  std::vector<CopyOnWrite<BayesLinear>> regressions_;  // (S·K)
  std::vector<std::vector<CoefficientGroup>> groups_;  // (S)
  Matrix<double> draws_;                               // (M·K,F) z of held draws
  SampledHeads sampled_;
  std::uint32_t fits_ = 0;
  Scratch<Sums> sums_;
};

}  // namespace pits
