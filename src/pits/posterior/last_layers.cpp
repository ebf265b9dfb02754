#include "pits/posterior/last_layers.h"

#include <algorithm>
#include <cmath>

#include "pits/model/layer_views.h"

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
// the last ones.
void add_products(ConstMatrixView<float> products, RegressionSums& sums) {
  const std::size_t F = products.rows() - 1;
  for (std::size_t i = 0; i < F; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      sums.xx(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) += products(i, j);
    }
    sums.xy[static_cast<Eigen::Index>(i)] += products(F, i);
  }
  sums.yy += products(F, F);
  sums.n += products(F - 1, F - 1);
}

// The features of one context: hidden units, the context where it is one of them, 1.
void find_features(std::span<const float> units, std::span<const float> inputs, std::vector<float>& features) {
  features.assign(units.begin(), units.end());
  features.insert(features.end(), inputs.begin(), inputs.end());
  features.push_back(1.0F);
}

// out = W x, W the rows of `matrix` from `first` on
void rows_times(const Matrix<float>& matrix, std::size_t first, std::span<const float> x, std::span<float> out) {
  std::ranges::fill(out, 0.0F);
  add_product_transposed(matrix.view().row_block(first, out.size()), row_view(x),
                         MatrixView<float>(out.data(), out.size(), 1));
}

// By how much rewards of the size of those seen may differ beyond what has been seen, in the networks' units.
double doubt_of(const Units& units, double weight) {
  const RewardScale& scale = units.reward_scale();
  const double unseen = weight * std::max(0.0, scale.size - (scale.high - scale.low));
  return units.reward_width(std::min(unseen, LastLayerRules::most_doubt * scale.sd));
}

}  // namespace

void DrawnLayers::means(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
                        Network::Workspace& w, std::span<float> mean_out, std::span<float> offset) const {
  thread_local std::vector<float> features;
  find_features(network.hidden(theta.row(i), x, w), inputs ? x : std::span<const float>{}, features);
  rows_times(mean, i * actions, features, mean_out);
  rows_times(deviation, i * actions, features, offset);
  for (std::size_t a = 0; a < actions; ++a) {
    if (optimistic) offset[a] = std::max(0.0F, offset[a]);
    mean_out[a] = std::clamp(mean_out[a], low, high);
    offset[a] *= spread(i, a);
  }
}

void DrawnLayers::values(const Network& network, ParticlesView theta, std::size_t i, std::span<const float> x,
                         Network::Workspace& w, std::span<float> out) const {
  thread_local std::vector<float> offset;
  offset.resize(actions);
  means(network, theta, i, x, w, out, offset);
  for (std::size_t a = 0; a < actions; ++a) out[a] += offset[a];
}

void DrawnLayers::values(const Network& network, ParticlesView theta, std::span<const float> x, Network::Workspace& w,
                         Matrix<float>& out) const {
  const std::size_t M = theta.rows();
  thread_local Matrix<float> offset;
  offset.reshape(M, actions);
  out.reshape(M, actions);
  for (std::size_t i = 0; i < M; ++i) means(network, theta, i, x, w, out.row(i), offset.row(i));
  for (std::size_t a = 0; a < actions; ++a) {
    float mean_of_all = 0.0F;
    for (std::size_t i = 0; i < M; ++i) mean_of_all += out(i, a) / static_cast<float>(M);
    for (std::size_t i = 0; i < M; ++i) {
      out(i, a) = mean_of_all + disagreement * (out(i, a) - mean_of_all) + offset(i, a);
    }
  }
}

LastLayers::LastLayers(const LastLayerConfig& config, const ParticlePosterior& posterior, const Address& address)
    : config_(config), address_(address) {
  const Network& network = posterior.model().network();
  const std::size_t M = posterior.particles().rows(), K = network.outputs();
  drawn_.actions = K;
  drawn_.inputs = inputs_are_features(config, network);
  drawn_.optimistic = config.optimistic;
  features_ = network.features() + (drawn_.inputs ? network.inputs() : 0) + 1;
  const std::vector<CoefficientGroup> groups = coefficient_groups(config, network);
  groups_.assign(network.layers().size() > 1 ? M : 1, groups);
  // One set of regressions has one mean: all agree with it, and a particle can decide alone.
  drawn_.disagreement = groups_.size() == 1 ? 1.0F : static_cast<float>(config.disagreement);
  const auto F = static_cast<Eigen::Index>(features_);
  sums_.assign(K, RegressionSums(F));
  regressions_.assign(groups_.size() * K, fresh(groups));
  draws_ = Matrix<double>(M * K, features_);
  drawn_.mean = Matrix<float>(M * K, features_);
  drawn_.deviation = drawn_.mean;
  drawn_.spread = Matrix<float>(M, K);
  address_.purpose = Purpose::last_layer;
  draw(0);
  show_spread(posterior.units());
}

void LastLayers::observe(const ParticlePosterior& posterior, const Observation& observation) {
  const std::size_t K = drawn_.actions;
  if (posterior.discount() < 1.0) {
    for (BayesLinear& regression : regressions_) regression.discount(posterior.discount());
  }
  const std::span<const float> x = posterior.units().context(observation.context);
  const double reward = posterior.units().reward(observation.reward);
  thread_local Network::Workspace workspace;
  thread_local Eigen::VectorXd features;
  features.resize(static_cast<Eigen::Index>(features_));
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const auto units = posterior.model().network().hidden(posterior.particles().row(i), x, workspace);
    auto next = std::ranges::copy(units, features.begin()).out;
    if (drawn_.inputs) next = std::ranges::copy(x, next).out;
    *next = 1.0;
    regressions_[i * K + observation.action].observe(features, reward);
  }
  for (std::size_t i = 0; i < particles(); ++i) show(i, observation.action);
  show_spread(posterior.units());
}

void LastLayers::fit(const ParticlePosterior& posterior) {
  const std::size_t K = drawn_.actions;
  thread_local Eigen::VectorXd prior;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    sum_up(posterior, i);
    evidence_step(sums_, noise(), groups_[i]);
    prior_precision(groups_[i], prior);
    for (std::size_t a = 0; a < K; ++a) regressions_[i * K + a].fit(noise(), prior, sums_[a]);
  }
  ++fits_;
  draw(0);
  const Units& units = posterior.units();
  const RewardScale& scale = units.reward_scale();
  const double room = LastLayerRules::margin * (scale.high - scale.low);
  drawn_.low = static_cast<float>(units.reward(scale.low - room));
  drawn_.high = static_cast<float>(units.reward(scale.high + room));
  show_spread(units);
}

// Products in single precision over pieces of the history, sums over the pieces in double.
void LastLayers::sum_up(const ParticlePosterior& posterior, std::size_t particle) {
  constexpr std::size_t piece = 1024;
  const History& history = posterior.history();
  const Network& network = posterior.model().network();
  thread_local Network::Workspace workspace;
  thread_local Minibatch batch;
  thread_local PaddedMatrix<float> rows, weighted;
  thread_local Matrix<float> products;
  for (RegressionSums& s : sums_) s.clear();
  for (std::size_t first = 0; first < history.size(); first += piece) {
    history.slice(first, std::min(piece, history.size() - first), batch);
    posterior.units().apply(batch);
    const ConstMatrixView<float> units = network.hidden(posterior.particles().row(particle), batch.contexts, workspace);
    feature_rows(units, drawn_.inputs ? batch.contexts.view() : ConstMatrixView<float>{}, batch, rows);
    const bool forgets = posterior.discount() < 1.0;
    if (forgets) weigh(history.weights(first, batch), rows, weighted);
    for_each_group(batch, [&](const Group& g) {
      products.reshape(features_ + 1, features_ + 1);
      add_product_transposed(rows.view().columns(g.first, g.count),
                             (forgets ? weighted : rows).view().columns(g.first, g.count), products);
      add_products(products, sums_[g.action]);
    });
  }
}

// Particle by particle. Draws of actions before `first` stay as they are, and those of later ones follow them.
void LastLayers::draw(std::size_t first) {
  const std::size_t M = particles(), K = drawn_.actions;
  address_.step = fits_;
  Stream stream(address_);
  for (std::size_t skipped = M * first * features_; skipped > 0; --skipped) stream.normal();
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t a = first; a < K; ++a) {
      for (double& z : draws_.row(i * K + a)) z = stream.normal();
    }
    for (std::size_t a = 0; a < K; ++a) show(i, a);
  }
}

void LastLayers::show(std::size_t particle, std::size_t action) {
  const std::size_t row = particle * drawn_.actions + action;
  const BayesLinear& regression = this->regression(particle, action);
  thread_local Eigen::VectorXd deviation;
  regression.deviation(Eigen::Map<const Eigen::VectorXd>(draws_.row(row).data(), draws_.cols()), deviation);
  const auto narrowed = [](double x) { return static_cast<float>(x); };
  std::ranges::transform(regression.mean(), drawn_.mean.row(row).begin(), narrowed);
  std::ranges::transform(deviation, drawn_.deviation.row(row).begin(), narrowed);
}

double LastLayers::noise_variance(std::size_t particle) const {
  double a = config_.noise_shape, b = config_.noise_scale;
  for (std::size_t k = 0; k < drawn_.actions; ++k) {
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

double LastLayers::noise_variance(double shared, double doubt, std::size_t particle, std::size_t action) const {
  const BayesLinear& regression = this->regression(particle, action);
  constexpr double own_weight = LastLayerRules::own_weight, doubt_weight = LastLayerRules::doubt_weight;
  const double pairs = 0.5 * regression.n();
  const double own = (own_weight * shared + regression.misfit()) / (own_weight + pairs);
  const double faded = doubt * doubt * doubt_weight / (doubt_weight + pairs);
  return std::max(shared, own) + faded;
}

double LastLayers::noise_variance(std::size_t particle, std::size_t action) const {
  return noise_variance(noise_variance(particle), 0.0, particle, action);
}

void LastLayers::show_spread(const Units& units) {
  const double doubt = doubt_of(units, config_.doubt);
  for (std::size_t i = 0; i < particles(); ++i) {
    const double shared = noise_variance(i);
    for (std::size_t a = 0; a < drawn_.actions; ++a) {
      const double pairs = 0.5 * regression(i, a).n();
      const bool hardly_tried = pairs < 1.0 && config_.exploration > 0.0;  // as after forced pulls no first action is
      const double kappa = hardly_tried ? std::max(1.0, config_.exploration) : config_.exploration;
      drawn_.spread(i, a) = static_cast<float>(kappa * std::sqrt(noise_variance(shared, doubt, i, a)));
    }
  }
}

BayesLinear LastLayers::fresh(std::span<const CoefficientGroup> groups) const {
  const RegressionSums nothing(static_cast<Eigen::Index>(features_));
  BayesLinear regression(noise(), nothing);
  Eigen::VectorXd prior;
  prior_precision(groups, prior);
  regression.fit(noise(), prior, nothing);
  return regression;
}

void LastLayers::add_actions(const ParticlePosterior& posterior, std::size_t n) {
  const std::size_t M = particles(), K = drawn_.actions, F = features_;
  for (std::size_t i = groups_.size(); i > 0; --i) {  // from the last set: places before it stay
    regressions_.insert(regressions_.begin() + static_cast<std::ptrdiff_t>(i * K), n, fresh(groups_[i - 1]));
  }
  Matrix<double> draws(M * (K + n), F);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t a = 0; a < K; ++a) std::ranges::copy(draws_.row(i * K + a), draws.row(i * (K + n) + a).begin());
  }
  draws_ = std::move(draws);
  drawn_.actions = K + n;
  drawn_.mean.reshape(M * (K + n), F);
  drawn_.deviation.reshape(M * (K + n), F);
  drawn_.spread.reshape(M, K + n);
  sums_.assign(K + n, RegressionSums(static_cast<Eigen::Index>(F)));
  draw(K);
  show_spread(posterior.units());
}

void LastLayers::state(Archive& archive) {
  archive(regressions_, groups_, draws_, drawn_.mean, drawn_.deviation, drawn_.spread, drawn_.low, drawn_.high, fits_);
}

}  // namespace pits
