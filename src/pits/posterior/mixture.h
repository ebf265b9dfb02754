// Two models of the rewards, side by side: networks with exact last layers, and a regression on the context alone. Each
// predicts every reward before it is learned; the one that predicts better weighs more, for what is predicted and for
// how widely it is explored.
//
// A decision is one draw. Draw s of set i (a network, or the linear model) thinks of action a in context x
//   m̄(x, a) + ρ (m_i(x, a) − m̄(x, a)) + κ σ_ia δ_ias·φ_i(x),
// where m_i = clamp(mean_ia·φ_i(x)), m̄ is the weighted mean of the sets, and δ is a draw from the posterior of the
// coefficients (feature_regressions.h); with optimistic=true draws below the mean count as the mean. The probability of
// an action is the weight of the draws that prefer it.
#pragma once

#include <span>
#include <vector>

#include "pits/core/value.h"
#include "pits/model/network.h"
#include "pits/posterior/feature_regressions.h"
#include "pits/posterior/history.h"
#include "pits/posterior/last_layers.h"
#include "pits/posterior/mixture_rules.h"
#include "pits/posterior/standardiser.h"

namespace pits {

class Posterior;

// The coefficients of a network's regressions, and of the linear model's on contexts of d numbers, by their priors.
std::vector<CoefficientGroup> network_groups(const LastLayerConfig& config, const Network& network);
std::vector<CoefficientGroup> linear_groups(std::size_t d);

class Mixture {
 public:
  Mixture(const LastLayerConfig& config, const Posterior& posterior, const Address& address);

  // One more observation of the posterior: the models are scored, then learn it. Returns the error of their prediction,
  // in the networks' units.
  double observe(const Posterior& posterior, const Observation& observation);
  // After a training: the networks' regressions start anew from the history, with `all` the linear ones too. Where it
  // throws, nothing has changed.
  void fit(const Posterior& posterior, bool all);
  // After the posterior has got n more actions.
  void add_actions(const Posterior& posterior, std::size_t n);

  // Weight of each draw, (rows): S of each network, then S linear ones.
  std::span<const double> weights() const { return row_weights_; }
  double linear_weight() const { return linear_weight_; }
  bool inputs() const { return inputs_; }  // contexts are features of the networks' regressions too
  // What each draw thinks of every action at x in the networks' units, (rows,K); 0 where its weight is.
  void values(const Posterior& posterior, std::span<const float> x, Matrix<float>& out) const;
  // The same at several contexts, xs (n,d), out (n): what a set has learned is read once for all of them.
  void values(const Posterior& posterior, ConstMatrixView<float> xs, std::span<Matrix<float>> out) const;
  // The same of one draw, (K).
  void values(const Posterior& posterior, std::span<const float> x, std::size_t row, std::span<float> out) const;
  // The weighted mean m̄ of the sets, (K).
  void means(const Posterior& posterior, std::span<const float> x, std::span<double> out) const;

  std::size_t draws() const { return sets_[0].draws(); }                               // S
  const FeatureRegressions& regressions(std::size_t set) const { return sets_[set]; }  // M networks, then linear
  double noise_variance(std::size_t set, std::size_t action) const;
  // σ that the networks are to be trained with, out (M), where their own is own_sd; empty: with that (last_layers.h).
  void training_noise(double own_sd, double width, std::vector<float>& out) const;

  void state(Archive& archive);

 private:
  std::size_t networks() const { return sets_.size() - 1; }  // M
  bool is_linear(std::size_t set) const { return set == networks(); }
  double weight(std::size_t set) const;
  void find_features(const Posterior& posterior, std::span<const float> x, std::size_t set,
                     std::vector<float>& out) const;
  void find_means(std::size_t set, std::span<const float> features, std::span<float> out) const;
  void find_draws(std::size_t set, ConstMatrixView<float> deviations, std::span<float> out) const;
  void find_draws(std::size_t set, std::span<Matrix<float>> out) const;
  void finish_draws(std::size_t set, std::size_t context, std::span<float> out) const;
  bool weighs(std::size_t set) const { return static_cast<float>(weight(set)) != 0.0F; }
  void predict(const Posterior& posterior, std::span<const float> x, bool all) const;
  void start_prediction(std::size_t context) const;
  void predict_set(const Posterior& posterior, std::span<const float> x, std::size_t set, std::size_t context) const;
  Address draws_of(std::size_t set, Purpose purpose, std::size_t step) const;
  void update_weights();
  void update_draw_sd(const Standardiser& standardiser);

  LastLayerConfig config_;
  Address address_;
  bool inputs_;                           // contexts are features of the networks' last layers too
  std::vector<FeatureRegressions> sets_;  // (M + 1)
  Matrix<float> draw_sd_;                 // (M + 1,K) κσ
  float low_ = 0.0F, high_ = 0.0F;        // bounds of the means
  std::vector<double> rewards_;           // (K) that have come since the start
  double lead_ = 0.0;                     // log likelihood of the linear model over the networks', lately
  std::uint32_t fits_ = 0;
  double linear_weight_ = 0.0;  // follows from lead_
  std::vector<double> row_weights_;
};

}  // namespace pits
