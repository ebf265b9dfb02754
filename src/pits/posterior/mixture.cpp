#include "pits/posterior/mixture.h"

#include <algorithm>
#include <cmath>

#include "pits/core/simd/kernels.h"
#include "pits/core/simd/normals.h"
#include "pits/model/kernels/layer_views.h"
#include "pits/posterior/mixture_sums.h"
#include "pits/posterior/posterior.h"

namespace pits {
namespace {

// Of one context: each set's features and means, and the weighted mean.
struct Predictions {
  std::vector<std::vector<float>> features;  // (sets)
  Matrix<float> means;                       // (sets,K)
  std::vector<float> mean;                   // (K)
};
// Of the contexts that this thread predicts together.
Predictions& predictions(std::size_t context = 0) {
  thread_local std::vector<Predictions> all;
  if (context >= all.size()) all.resize(context + 1);
  return all[context];
}

// out += M x
void add_times(ConstMatrixView<float> m, std::span<const float> x, std::span<float> out) {
  add_product_transposed(m, row_view(x), MatrixView<float>(out.data(), out.size(), 1));
}

}  // namespace

Mixture::Mixture(const LastLayerConfig& config, const Posterior& posterior, const Address& address)
    : config_(config), address_(address), rewards_(posterior.model().actions()) {
  const Network& network = posterior.model().network();
  const std::size_t K = network.outputs(), S = static_cast<std::size_t>(config.held_draws);
  const NoisePrior noise{config.noise_shape, config.noise_scale};
  inputs_ = inputs_are_features(config, network);
  for (std::size_t i = 0; i < posterior.particles().rows(); ++i) {
    sets_.emplace_back(network_groups(config, network), K, S, noise);
  }
  sets_.emplace_back(linear_groups(network.inputs()), K, S, noise);
  draw_sd_ = Matrix<float>(sets_.size(), K);
  for (std::size_t i = 0; i < sets_.size(); ++i) sets_[i].start(draws_of(i, Purpose::last_layer, 0));
  update_weights();
  update_draw_sd(posterior.standardiser());
}

double Mixture::weight(std::size_t set) const {
  return is_linear(set) ? linear_weight_ : (1.0 - linear_weight_) / static_cast<double>(networks());
}

void Mixture::update_weights() {
  linear_weight_ = pits::linear_weight(lead_);
  const std::size_t S = sets_[0].draws();
  row_weights_.resize(sets_.size() * S);
  for (std::size_t row = 0; row < row_weights_.size(); ++row)
    row_weights_[row] = weight(row / S) / static_cast<double>(S);
}

void Mixture::find_features(const Posterior& posterior, std::span<const float> x, std::size_t set,
                            std::vector<float>& out) const {
  thread_local Network::Workspace workspace;
  out.clear();
  if (!is_linear(set)) {
    const auto units = posterior.model().network().hidden(posterior.particles().row(set), x, workspace);
    out.assign(units.begin(), units.end());
  }
  if (is_linear(set) || inputs_) out.insert(out.end(), x.begin(), x.end());
  out.push_back(1.0F);
}

void Mixture::find_means(std::size_t set, std::span<const float> features, std::span<float> out) const {
  std::ranges::fill(out, 0.0F);
  add_times(sets_[set].mean(), features, out);
  for (float& m : out) m = std::clamp(m, low_, high_);
}

void Mixture::start_prediction(std::size_t context) const {
  Predictions& p = predictions(context);
  p.features.resize(sets_.size());
  p.means.reshape(sets_.size(), draw_sd_.cols());
  p.mean.assign(draw_sd_.cols(), 0.0F);
}

void Mixture::predict_set(const Posterior& posterior, std::span<const float> x, std::size_t i,
                          std::size_t context) const {
  Predictions& p = predictions(context);
  const auto w = static_cast<float>(weight(i));
  find_features(posterior, x, i, p.features[i]);
  find_means(i, p.features[i], p.means.row(i));
  for (std::size_t a = 0; a < p.mean.size(); ++a) p.mean[a] += w * p.means(i, a);
}

// `all`: of sets that weigh nothing too.
void Mixture::predict(const Posterior& posterior, std::span<const float> x, bool all) const {
  start_prediction(0);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (all || weighs(i)) predict_set(posterior, x, i, 0);
  }
}

// δ·φ for draws of set i; deviations δ, (n·K,F); out (n·K)
void Mixture::find_draws(std::size_t i, ConstMatrixView<float> deviations, std::span<float> out) const {
  std::ranges::fill(out, 0.0F);
  add_times(deviations, predictions().features[i], out);
  finish_draws(i, 0, out);
}

// The same at each of the contexts: one product with all their features.
void Mixture::find_draws(std::size_t i, std::span<Matrix<float>> out) const {
  const std::size_t n = out.size(), F = sets_[i].features(), rows = sets_[i].deviations().rows();
  thread_local Matrix<float> features, products;  // (n,F), (n,S·K)
  features.reshape(n, F);
  products.reshape(n, rows);
  for (std::size_t c = 0; c < n; ++c) std::ranges::copy(predictions(c).features[i], features.row(c).begin());
  add_product_transposed(features, sets_[i].deviations(), products);
  for (std::size_t c = 0; c < n; ++c) {
    const std::span<float> own = out[c].flat().subspan(i * rows, rows);
    std::ranges::copy(products.row(c), own.begin());
    finish_draws(i, c, own);
  }
}

// out = m̄ + ρ (m_i − m̄) + κσ·out, a few draws at a time: one is too short for vectors.
void Mixture::finish_draws(std::size_t i, std::size_t context, std::span<float> out) const {
  const Predictions& p = predictions(context);
  const std::size_t K = draw_sd_.cols(), block = std::min(8 * K, out.size());
  const auto rho = static_cast<float>(config_.mean_shrinkage);
  if (config_.optimistic) {
    for (float& value : out) value = std::max(0.0F, value);
  }
  thread_local std::vector<float> centre, sd;  // (block) m̄ + ρ (m_i − m̄), κσ
  centre.resize(block);
  sd.resize(block);
  for (std::size_t a = 0; a < K; ++a) {
    const float own = p.mean[a] + rho * (p.means(i, a) - p.mean[a]);
    for (std::size_t draw = 0; draw < block; draw += K) {
      centre[draw + a] = own;
      sd[draw + a] = draw_sd_(i, a);
    }
  }
  const float* const m = centre.data();  // no look at the thread's vectors in the loop
  const float* const s = sd.data();
  for (std::size_t first = 0; first < out.size(); first += block) {
    const std::size_t n = std::min(block, out.size() - first);
    for (std::size_t a = 0; a < n; ++a) out[first + a] = m[a] + s[a] * out[first + a];
  }
}

void Mixture::values(const Posterior& posterior, std::span<const float> x, std::size_t row,
                     std::span<float> out) const {
  predict(posterior, x, row_weights_[row] == 0.0);
  const std::size_t S = sets_[0].draws();
  find_draws(row / S, sets_[row / S].deviation(row % S), out);
}

void Mixture::values(const Posterior& posterior, std::span<const float> x, Matrix<float>& out) const {
  predict(posterior, x, false);
  const std::size_t S = sets_[0].draws(), K = draw_sd_.cols();
  out.reshape(row_weights_.size(), K);
  for (std::size_t i = 0; i < sets_.size(); ++i) {  // all rows of a set have the same weight
    if (row_weights_[i * S] > 0.0) find_draws(i, sets_[i].deviations(), out.flat().subspan(i * S * K, S * K));
  }
}

void Mixture::values(const Posterior& posterior, ConstMatrixView<float> xs, std::span<Matrix<float>> out) const {
  for (std::size_t c = 0; c < out.size(); ++c) {
    start_prediction(c);
    out[c].reshape(row_weights_.size(), draw_sd_.cols());
  }
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (!weighs(i)) continue;
    for (std::size_t c = 0; c < out.size(); ++c) predict_set(posterior, xs.row(c), i, c);
  }
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (weighs(i)) find_draws(i, out);
  }
}

void Mixture::means(const Posterior& posterior, std::span<const float> x, std::span<double> out) const {
  predict(posterior, x, false);
  std::ranges::copy(predictions().mean, out.begin());
}

double Mixture::observe(const Posterior& posterior, const Observation& observation) {
  const double reward = posterior.standardiser().reward(observation.reward);
  predict(posterior, posterior.standardiser().context(observation.context), true);
  const Predictions& p = predictions();
  double network = 0.0;
  for (std::size_t i = 0; i < networks(); ++i) network += p.means(i, observation.action);
  if (fits_ > 0) {  // before the first fit rewards have no unit
    lead_ = next_lead(lead_, reward - network / static_cast<double>(networks()),
                      reward - p.means(networks(), observation.action), sets_[0].noise_variance(),
                      static_cast<double>(posterior.history().seen()));
  }
  Address address = address_;
  address.purpose = Purpose::observation_noise;
  address.step = static_cast<std::uint32_t>(posterior.history().seen());
  thread_local Matrix<float> noise;
  noise.reshape(sets_.size(), sets_[0].draws());
  fill_normals(address, noise.flat());
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    sets_[i].observe(observation.action, p.features[i], reward, noise.row(i));
  }
  rewards_[observation.action] += 1.0;
  update_weights();
  update_draw_sd(posterior.standardiser());
  return reward - p.mean[observation.action];
}

// The networks' are fitted in the memory of the last ones, and take their place when nothing can fail any more. The
// linear ones, which may be large, need no second copy: they come last, and change only where all of them can be
// solved.
void Mixture::fit(const Posterior& posterior, bool all) {
  const auto draws = [&](std::size_t set) { return draws_of(set, Purpose::last_layer, fits_ + 1); };
  thread_local MixtureSums sums;
  thread_local std::vector<FeatureRegressions> fitted;
  sums.start(posterior, inputs_, all);
  fitted.resize(networks());
  for (std::size_t i = 0; i < networks(); ++i) fitted[i].fit(sets_[i], sums.network(posterior, i), draws(i));
  if (all) sets_.back().fit(sums.linear(), draws(networks()));
  for (std::size_t i = 0; i < networks(); ++i) std::swap(sets_[i], fitted[i]);
  ++fits_;
  const Standardiser& standardiser = posterior.standardiser();
  const RewardScale& scale = standardiser.reward_scale();
  const double room = LastLayerConstants::margin * (scale.high - scale.low);
  low_ = static_cast<float>(standardiser.reward(scale.low - room));
  high_ = static_cast<float>(standardiser.reward(scale.high + room));
  update_draw_sd(posterior.standardiser());
}

double Mixture::noise_variance(std::size_t set, std::size_t action) const {
  return sets_[set].noise_variance(sets_[set].noise_variance(), action);
}

void Mixture::training_noise(double own_sd, double width, std::vector<float>& out) const {
  out.resize(config_.train_noise ? networks() : 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(std::max(own_sd, width * std::sqrt(sets_[i].noise_variance())));
  }
}

void Mixture::update_draw_sd(const Standardiser& standardiser) {
  const double scale_sd = scale_prior_sd(standardiser, config_.scale_prior);
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const double shared = sets_[i].noise_variance();
    for (std::size_t a = 0; a < draw_sd_.cols(); ++a) {
      draw_sd_(i, a) = static_cast<float>(mixture_draw_sd(config_.posterior_scale, scale_sd, sets_[i].n(a), rewards_[a],
                                                          sets_[i].noise_variance(shared, a)));
    }
  }
}

// Each set has addresses of its own for the draws of a fit, and of new actions.
Address Mixture::draws_of(std::size_t set, Purpose purpose, std::size_t step) const {
  Address address = address_;
  address.purpose = purpose;
  address.step = static_cast<std::uint32_t>(step * sets_.size() + set);
  return address;
}

void Mixture::add_actions(const Posterior& posterior, std::size_t n) {
  const std::size_t K = draw_sd_.cols();
  for (std::size_t i = 0; i < sets_.size(); ++i) sets_[i].add_actions(n, draws_of(i, Purpose::new_action, K));
  draw_sd_ = Matrix<float>(sets_.size(), K + n);
  rewards_.resize(K + n);
  update_draw_sd(posterior.standardiser());
}

void Mixture::state(Archive& archive) {
  archive.version("Mixture", 2, 1)(sets_, draw_sd_, low_, high_, lead_, fits_);
  const bool counted = archive.version_of("Mixture") >= 2;
  if (counted) archive(rewards_);
  for (std::size_t a = 0; !counted && a < rewards_.size(); ++a) rewards_[a] = sets_[0].n(a);  // what is left of them
  if (!archive.reading()) return;
  if (!std::isfinite(lead_)) throw bad_input("the saved weights of the models are not finite");
  update_weights();
}

}  // namespace pits
