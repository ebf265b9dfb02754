#include "pits/posterior/last_layers.h"

#include <algorithm>
#include <cmath>

#include "pits/model/kernels/layer_views.h"
#include "pits/posterior/posterior.h"

namespace pits {
namespace {

// The features of a batch as rows, and its rewards as the last one: (F+1,B).
void feature_rows(ConstMatrixView<float> units, ConstMatrixView<float> inputs, const Minibatch& batch,
                  PaddedMatrix<float>& rows) {
  rows.reshape(units.rows() + inputs.rows() + 2, batch.size());
  std::size_t f = 0;
  const auto put = [&](std::span<const float> row) { std::ranges::copy(row, rows.row(f++).begin()); };
  for (std::size_t i = 0; i < units.rows(); ++i) put(units.row(i));
  for (std::size_t j = 0; j < inputs.rows(); ++j) put(inputs.row(j));
  std::ranges::fill(rows.row(f++), 1.0F);
  put(batch.rewards);
}

// weighted(f,b) = weights[b] rows(f,b)
void weigh(std::span<const double> weights, const PaddedMatrix<float>& rows, PaddedMatrix<float>& weighted) {
  weighted = rows;
  for (std::size_t f = 0; f < rows.rows(); ++f) {
    for (std::size_t b = 0; b < weights.size(); ++b) weighted(f, b) *= static_cast<float>(weights[b]);
  }
}

// Adds the products of a group's rows with each other to the sums of its action. The rows of 1 and of the rewards are
// the last ones; 1 may or may not be one of the F features.
void add_products(ConstMatrixView<float> products, std::size_t F, RegressionSums& sums) {
  const std::size_t ones = products.rows() - 2, rewards = products.rows() - 1;
  for (std::size_t i = 0; i < F; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      sums.xx(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) += products(i, j);
    }
    sums.xy[static_cast<Eigen::Index>(i)] += products(rewards, i);
  }
  sums.yy += products(rewards, rewards);
  sums.n += products(ones, ones);
}

Eigen::Map<const Eigen::VectorXd> as_vector(const std::vector<double>& features) {
  return {features.data(), static_cast<Eigen::Index>(features.size())};
}

}  // namespace

double scale_prior_sd(const Standardiser& standardiser, double scale_prior) {
  const RewardScale& scale = standardiser.reward_scale();
  const double unseen = scale_prior * std::max(0.0, scale.size - (scale.high - scale.low));
  return standardiser.reward_width(std::min(unseen, LastLayerConstants::max_scale_sd * scale.sd));
}

LastLayers::LastLayers(const LastLayerConfig& config, const Posterior& posterior, const Address& address)
    : config_(config), address_(address) {
  const Network& network = posterior.model().network();
  const std::size_t M = posterior.particles().rows(), K = network.outputs();
  sampled_.actions = K;
  sampled_.inputs = inputs_are_features(config, network);
  sampled_.intercept = config.intercept;
  sampled_.optimistic = config.optimistic;
  features_ = network.features() + (sampled_.inputs ? network.inputs() : 0) + (config.intercept ? 1 : 0);
  const std::vector<CoefficientGroup> groups = coefficient_groups(config, network);
  groups_.assign(network.layers().size() > 1 ? M : 1, groups);
  // One set of regressions has one mean: a particle can decide alone.
  sampled_.mean_shrinkage = groups_.size() == 1 ? 1.0F : static_cast<float>(config.mean_shrinkage);
  regressions_.assign(groups_.size() * K, prior_regression(groups));
  sampled_.draw_sd = Matrix<float>(M, K);
  if (!held()) return;
  draws_ = Matrix<double>(M * K, features_);
  sampled_.mean = Matrix<float>(M * K, features_);
  sampled_.deviation = sampled_.mean;
  address_.purpose = Purpose::last_layer;
  draw(0);
  update_draw_sd(posterior.standardiser());
}

void LastLayers::observe(const Posterior& posterior, const Observation& observation) {
  const std::size_t K = sampled_.actions;
  if (const double discount = posterior.config().memory.discount; discount < 1.0) {
    for (auto& regression : regressions_) regression.edit().discount(discount);
  }
  const std::span<const float> x = posterior.standardiser().context(observation.context);
  const double reward = posterior.standardiser().reward(observation.reward);
  thread_local Network::Workspace workspace;
  thread_local std::vector<double> features;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    find_features(posterior.model().network().hidden(posterior.particles().row(i), x, workspace), x, sampled_,
                  features);
    regressions_[i * K + observation.action].edit().observe(as_vector(features), reward);
  }
  if (!held()) return;
  for (std::size_t i = 0; i < particles(); ++i) materialise(i, observation.action);
  update_draw_sd(posterior.standardiser());
}

void LastLayers::fit(const Posterior& posterior) {
  const std::size_t K = sampled_.actions;
  thread_local Eigen::VectorXd prior;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    accumulate(posterior, i);
    if (config_.evidence) evidence_step(sums_.of, noise(), groups_[i]);
    prior_precision(groups_[i], prior);
    for (std::size_t a = 0; a < K; ++a) regressions_[i * K + a].edit().fit(noise(), prior, sums_.of[a]);
  }
  ++fits_;
  if (!held()) return;
  draw(0);
  const Standardiser& standardiser = posterior.standardiser();
  const RewardScale& scale = standardiser.reward_scale();
  const double room = LastLayerConstants::margin * (scale.high - scale.low);
  sampled_.low = static_cast<float>(standardiser.reward(scale.low - room));
  sampled_.high = static_cast<float>(standardiser.reward(scale.high + room));
  update_draw_sd(standardiser);
}

void LastLayers::sample(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
                        Network::Workspace& w, Stream& stream, std::span<double> out) const {
  thread_local std::vector<double> features;
  thread_local Eigen::VectorXd beta;
  find_features(network.hidden(theta.row(i), x, w), x, sampled_, features);
  for (std::size_t a = 0; a < out.size(); ++a) {
    regression(i, a).sample(stream, beta);
    out[a] = beta.dot(as_vector(features));
  }
}

void LastLayers::laws(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
                      Network::Workspace& w, std::span<ValueLaw> out) const {
  thread_local std::vector<double> features;
  find_features(network.hidden(theta.row(i), x, w), x, sampled_, features);
  for (std::size_t a = 0; a < out.size(); ++a) out[a] = regression(i, a).law(as_vector(features));
}

// Products in single precision over pieces of the history, sums over the pieces in double.
void LastLayers::accumulate(const Posterior& posterior, std::size_t particle) {
  constexpr std::size_t piece = 1024;
  const History& history = posterior.history();
  const Network& network = posterior.model().network();
  thread_local Network::Workspace workspace;
  thread_local Minibatch batch;
  thread_local PaddedMatrix<float> rows, weighted;
  thread_local Matrix<float> products;
  if (sums_.of.size() != sampled_.actions) {
    sums_.of.assign(sampled_.actions, RegressionSums(static_cast<Eigen::Index>(features_)));
  }
  for (RegressionSums& s : sums_.of) s.clear();
  for (std::size_t first = 0; first < history.size(); first += piece) {
    history.slice(first, std::min(piece, history.size() - first), batch);
    posterior.standardiser().apply(batch);
    const ConstMatrixView<float> units = network.hidden(posterior.particles().row(particle), batch.contexts, workspace);
    feature_rows(units, sampled_.inputs ? batch.contexts.view() : ConstMatrixView<float>{}, batch, rows);
    const bool forgets = posterior.config().memory.discount < 1.0;
    if (forgets) weigh(history.weights(first, batch), rows, weighted);
    for_each_group(batch, [&](const Group& g) {
      products.reshape(rows.rows(), rows.rows());
      add_product_transposed(rows.view().columns(g.first, g.count),
                             (forgets ? weighted : rows).view().columns(g.first, g.count), products);
      add_products(products, features_, sums_.of[g.action]);
    });
  }
}

// Particle by particle. Draws of actions before `first` stay as they are, and those of later ones follow them.
void LastLayers::draw(std::size_t first) {
  const std::size_t M = particles(), K = sampled_.actions;
  address_.step = fits_;
  Stream stream(address_);
  for (std::size_t skipped = M * first * features_; skipped > 0; --skipped) stream.normal();
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t a = first; a < K; ++a) {
      for (double& z : draws_.row(i * K + a)) z = stream.normal();
    }
    for (std::size_t a = 0; a < K; ++a) materialise(i, a);
  }
}

void LastLayers::materialise(std::size_t particle, std::size_t action) {
  const std::size_t row = particle * sampled_.actions + action;
  const BayesLinear& regression = this->regression(particle, action);
  thread_local Eigen::VectorXd deviation;
  regression.deviation(Eigen::Map<const Eigen::VectorXd>(draws_.row(row).data(), draws_.cols()), deviation);
  const auto narrowed = [](double x) { return static_cast<float>(x); };
  std::ranges::transform(regression.mean(), sampled_.mean.row(row).begin(), narrowed);
  std::ranges::transform(deviation, sampled_.deviation.row(row).begin(), narrowed);
}

double LastLayers::noise_variance(std::size_t particle) const {
  double a = config_.noise_shape, b = config_.noise_scale;
  for (std::size_t k = 0; k < sampled_.actions; ++k) {
    const BayesLinear& regression = this->regression(particle, k);
    a += 0.5 * regression.n();
    b += regression.misfit();
  }
  return b / a;
}

void LastLayers::training_noise(double own_sd, double width, std::vector<float>& out) const {
  out.resize(config_.train_noise ? particles() : 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(std::max(own_sd, width * std::sqrt(noise_variance(i))));
  }
}

double LastLayers::noise_variance(double shared, double scale_sd, std::size_t particle, std::size_t action) const {
  using C = LastLayerConstants;
  const BayesLinear& regression = this->regression(particle, action);
  const double pairs = 0.5 * regression.n();
  const double own = (C::own_noise_pairs * shared + regression.misfit()) / (C::own_noise_pairs + pairs);
  const double faded = scale_sd * scale_sd * C::scale_prior_pairs / (C::scale_prior_pairs + pairs);
  return std::max(shared, own) + faded;
}

double LastLayers::noise_variance(std::size_t particle, std::size_t action) const {
  return noise_variance(noise_variance(particle), 0.0, particle, action);
}

void LastLayers::update_draw_sd(const Standardiser& standardiser) {
  const double scale_sd = scale_prior_sd(standardiser, config_.scale_prior);
  for (std::size_t i = 0; i < particles(); ++i) {
    const double shared = noise_variance(i);
    for (std::size_t a = 0; a < sampled_.actions; ++a) {
      const double pairs = 0.5 * regression(i, a).n();
      const bool hardly_tried = pairs < 1.0 && config_.posterior_scale > 0.0;  // never after two forced pulls
      const double kappa = hardly_tried ? std::max(1.0, config_.posterior_scale) : config_.posterior_scale;
      sampled_.draw_sd(i, a) = static_cast<float>(kappa * std::sqrt(noise_variance(shared, scale_sd, i, a)));
    }
  }
}

BayesLinear LastLayers::prior_regression(std::span<const CoefficientGroup> groups) const {
  const RegressionSums nothing(static_cast<Eigen::Index>(features_));
  BayesLinear regression(noise(), nothing);
  Eigen::VectorXd prior;
  prior_precision(groups, prior);
  regression.fit(noise(), prior, nothing);
  return regression;
}

void LastLayers::add_actions(const Posterior& posterior, std::size_t n) {
  const std::size_t M = particles(), K = sampled_.actions, F = features_;
  for (std::size_t i = groups_.size(); i > 0; --i) {  // from the last set: places before it stay
    regressions_.insert(regressions_.begin() + static_cast<std::ptrdiff_t>(i * K), n, prior_regression(groups_[i - 1]));
  }
  sampled_.actions = K + n;
  sampled_.draw_sd.reshape(M, K + n);
  if (!held()) return;
  Matrix<double> draws(M * (K + n), F);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t a = 0; a < K; ++a) std::ranges::copy(draws_.row(i * K + a), draws.row(i * (K + n) + a).begin());
  }
  draws_ = std::move(draws);
  sampled_.mean.reshape(M * (K + n), F);
  sampled_.deviation.reshape(M * (K + n), F);
  draw(K);
  update_draw_sd(posterior.standardiser());
}

void LastLayers::state(Archive& archive) {
  archive.version("LastLayers", 1);
  if (!archive.policy() || !held()) archive(regressions_);
  if (!archive.policy()) archive(groups_, draws_);
  archive(sampled_.mean, sampled_.deviation, sampled_.draw_sd, sampled_.low, sampled_.high, fits_);
}

}  // namespace pits
