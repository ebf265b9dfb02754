#include "pits/posterior/mean_field.h"

#include <algorithm>
#include <cmath>

#include "pits/core/simd/denormals.h"
#include "pits/core/simd/normals.h"
#include "pits/model/growth.h"
#include "pits/posterior/posterior.h"

namespace pits {

Fields fields(MeanFieldConfig& c) {
  return Fields{}
      .add("hidden", c.hidden, "widths of the hidden layers, e.g. 50 or 50x50; none: linear", at_least(1))
      .add("activation", c.activation, "relu or tanh")
      .add("noise_sd", c.noise_sd, "standard deviation of the Gaussian likelihood", above(0))
      .add("prior_variance", c.prior_variance, "prior variance of a weight, over its layer's inputs", above(0))
      .add("kl", c.kl, "weight of the divergence from the prior", at_least(0))
      .add("init_mean_sd", c.init_mean_sd, "means and biases start at N(0, this squared)", at_least(0))
      .add("init_log_sd", c.init_log_sd, "mean of the first log standard deviations")
      .add("init_log_spread", c.init_log_spread, "their standard deviation", at_least(0))
      .merge(fields(c.optimizer))
      .add("batch", c.batch, "observations in a minibatch, drawn with replacement", at_least(1))
      .merge(fields(c.memory));
}

MeanField::MeanField(const MeanFieldConfig& config, std::size_t context_size, std::size_t actions,
                     const Address& address)
    : config_(checked(config)),
      network_(context_size, config.hidden, actions, config.activation),
      history_(context_size, actions, config.memory),
      address_(address),
      optimizer_(config.optimizer),
      theta_(1, 2 * network_.parameters()),
      variance_(network_.parameters()),
      gradient_(1, theta_.cols()) {
  if (context_size == 0 || actions == 0) throw bad_input("a model needs a context and an action");
  initialise(0, theta_.flat());
  update_variance();
}

void MeanField::initialise(std::uint32_t step, std::span<float> theta) {
  address_.purpose = Purpose::initial_particles;
  address_.step = step;
  Stream stream(address_);
  const std::size_t P = theta.size() / 2;
  stream.fill_normal(theta.first(P), static_cast<float>(config_.init_mean_sd));
  stream.fill_normal(theta.last(P), static_cast<float>(config_.init_log_spread));
  for (float& log_sd : theta.last(P)) log_sd += static_cast<float>(config_.init_log_sd);
}

void MeanField::add_actions(std::size_t n) {
  const std::size_t K = network_.outputs();
  GaussianNetwork after(network_.inputs(), config_.hidden, K + n, config_.activation);
  const ParameterMap half = grown_parameters(network_.network(), after.network(), grown_outputs(K, n, 1));
  const ParameterMap map = appended(half, network_.parameters(), half);
  Matrix<float> start(1, 2 * after.parameters());
  initialise(static_cast<std::uint32_t>(K + n), start.flat());
  optimizer_.grow([&](const Matrix<float>& block, float value) {
    Matrix<float> filled(1, start.cols());
    std::ranges::fill(filled.flat(), value);
    return grown<float>(block, map, filled);
  });
  theta_ = grown<float>(theta_, map, start);
  gradient_.reshape(1, theta_.cols());
  variance_.resize(after.parameters());
  workspace_ = {};  // its noise has a row for each unit and output
  history_.add_actions(n);
  network_ = std::move(after);
  update_variance();
}

void MeanField::set_parameters(std::span<const float> theta) {
  if (theta.size() != theta_.size()) throw bad_input("set_parameters: {} numbers, not {}", theta_.size(), theta.size());
  std::ranges::copy(theta, theta_.data());
  update_variance();
}

void MeanField::state(Archive& archive) {
  archive.version("MeanField", 1)(history_);
  if (!archive.policy()) archive(optimizer_);
  archive(theta_);
  if (!archive.reading()) return;
  check_saved_parameters(theta_.flat());
  update_variance();
}

void MeanField::update_variance() {
  std::ranges::transform(theta_.flat().last(variance_.size()), variance_.begin(),
                         [](float log_sd) { return std::exp(2.0F * log_sd); });
}

float MeanField::prior_variance_of(const Layer& layer) const {
  return static_cast<float>(config_.prior_variance / static_cast<double>(layer.inputs));
}

void MeanField::train(int steps) {
  if (history_.size() == 0) throw failed("train: no observation yet");
  const FlushDenormals flush;
  const Matrix<float>& theta = thread_copy(theta_);  // as before, if the training fails
  const Optimizer<float>& optimizer = thread_copy(optimizer_);
  optimizer_.begin_training();
  for (int i = 0; i < steps; ++i) {
    train_step();
    if (usable_parameters(theta_.flat())) continue;
    const std::int64_t done = steps_done();
    theta_ = theta;
    optimizer_ = optimizer;
    update_variance();
    throw failed("the mean-field posterior diverged after {} training steps; a smaller step than {} may hold it", done,
                 config_.optimizer.step);
  }
}

void MeanField::train_step() {
  address_.step = static_cast<std::uint32_t>(steps_done());
  address_.purpose = Purpose::minibatch;
  Stream draws(address_);
  history_.sample(draws, static_cast<std::size_t>(config_.batch), batch_);
  batch_.likelihood_scale = 1.0F / static_cast<float>(batch_.size());
  Matrix<float>& noise = workspace_.noise;
  if (noise.cols() != batch_.size()) noise.reshape(network_.draws(), batch_.size());
  address_.purpose = Purpose::agent_private;
  fill_normals(address_, noise.flat());
  gradient(batch_, history_.weight(), workspace_, gradient_.flat());
  optimizer_.ascend(theta_, gradient_);
  update_variance();
}

// ∂KL/∂μ = μ/s², ∂KL/∂log σ = σ²/s² − 1, with s² the prior variance.
void MeanField::gradient(const Minibatch& batch, double n, GaussianNetwork::Workspace& w, std::span<float> out) const {
  const std::size_t P = network_.parameters();
  std::ranges::fill(out, 0.0F);
  thread_local std::vector<float> delta;
  delta.resize(batch.size());
  network_.forward(weights(), batch, w, delta);
  const auto precision = static_cast<float>(1.0 / (config_.noise_sd * config_.noise_sd));
  for (std::size_t b = 0; b < delta.size(); ++b) {
    delta[b] = batch.likelihood_scale * precision * (batch.rewards[b] - delta[b]);
  }
  network_.backward(weights(), batch, delta, w, {out.first(P), out.last(P)});
  for (std::size_t i = 0; i < P; ++i) out[P + i] *= 2.0F * variance_[i];  // ∂σ²/∂log σ
  const auto kl = static_cast<float>(config_.kl / n);
  for (const Layer& layer : network_.layers()) {
    const float prior_precision = 1.0F / prior_variance_of(layer);
    for (std::size_t i = layer.weights; i < layer.biases; ++i) {
      out[i] -= kl * prior_precision * theta_(0, i);
      out[P + i] -= kl * (prior_precision * variance_[i] - 1.0F);
    }
  }
}

double MeanField::divergence() const {
  double sum = 0.0;
  for (const Layer& layer : network_.layers()) {
    const double s2 = prior_variance_of(layer);
    for (std::size_t i = layer.weights; i < layer.biases; ++i) {
      const double mean = theta_(0, i);
      const double variance = variance_[i];
      sum += 0.5 * ((variance + mean * mean) / s2 - 1.0 - std::log(variance / s2));
    }
  }
  return sum;
}

}  // namespace pits
