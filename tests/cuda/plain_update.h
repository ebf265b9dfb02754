// One training step by scalar loops in double: the reference that the GPU is compared with.
#pragma once

#include "model/plain_model.h"
#include "pits/flow/mover.h"
#include "pits/posterior/posterior.h"

namespace pits::test {

// ∂/∂θ log p(r | x, a, θ) by the chain rule, added to `gradient` with a factor.
inline void add_plain_gradient(const PlainModel& model, std::span<const double> theta, const PlainObservation& o,
                               double factor, std::span<double> gradient) {
  const auto w = model.widths();
  std::vector<std::vector<double>> value = {o.x};
  std::vector<std::size_t> start;
  for (std::size_t l = 0, at = 0; l + 1 < w.size(); at += w[l + 1] * (w[l] + 1), ++l) {
    start.push_back(at);
    std::vector<double> z(w[l + 1]);
    for (std::size_t i = 0; i < z.size(); ++i) {
      z[i] = theta[at + w[l + 1] * w[l] + i];
      for (std::size_t j = 0; j < w[l]; ++j) z[i] += theta[at + i * w[l] + j] * value.back()[j];
      if (l + 2 == w.size()) continue;
      z[i] = model.config.activation == Activation::relu ? std::max(z[i], 0.0) : std::tanh(z[i]);
    }
    value.push_back(std::move(z));
  }
  const double m = value.back()[o.action];
  std::vector<double> delta(w.back());
  if (model.bernoulli()) {
    delta[o.action] = factor * (o.reward - 1.0 / (1.0 + std::exp(-m)));
  } else {
    const double sd = model.noise_sd(theta, o.action), e = (o.reward - m) / sd;
    delta[o.action] = factor * e / sd;
    if (model.noise_parameters() > 0) {
      const bool each = model.config.noise == Noise::learned_per_action;
      gradient[model.network_parameters() + (each ? o.action : 0)] += factor * (e * e - 1.0);
    }
  }
  for (std::size_t l = w.size() - 1; l-- > 0;) {
    std::vector<double> below(w[l]);
    for (std::size_t i = 0; i < w[l + 1]; ++i) {
      gradient[start[l] + w[l + 1] * w[l] + i] += delta[i];
      for (std::size_t j = 0; j < w[l]; ++j) {
        gradient[start[l] + i * w[l] + j] += delta[i] * value[l][j];
        below[j] += delta[i] * theta[start[l] + i * w[l] + j];
      }
    }
    for (std::size_t j = 0; j < w[l]; ++j) {
      const double a = value[l][j];
      if (l > 0) below[j] *= model.config.activation == Activation::relu ? (a > 0.0 ? 1.0 : 0.0) : 1.0 - a * a;
    }
    delta = std::move(below);
  }
}

inline std::vector<double> plain_score(const PlainModel& model, std::span<const double> theta,
                                       const std::vector<PlainObservation>& data, double scale) {
  std::vector<double> gradient(theta.size());
  for (const PlainObservation& o : data) add_plain_gradient(model, theta, o, scale, gradient);
  const auto w = model.widths();
  std::size_t at = 0;
  for (std::size_t l = 0; l + 1 < w.size(); ++l) {
    const double fan_in = model.config.prior == PriorScale::fan_in ? static_cast<double>(w[l]) : 1.0;
    for (const std::size_t end = at + w[l + 1] * (w[l] + 1); at < end; ++at) {
      gradient[at] -= model.config.prior_precision * fan_in * theta[at];
    }
  }
  for (; at < theta.size(); ++at) {
    gradient[at] -= (theta[at] - std::log(model.config.noise_sd)) / std::pow(model.config.noise_log_sd, 2);
  }
  return gradient;
}

// The particles of one realization, moved in double by the same draws.
class PlainPosterior {
 public:
  PlainPosterior(const PosteriorConfig& config, std::size_t d, std::size_t K, const Address& address)
      : config_(config),
        model_{config.model, d, K},
        address_(address),
        mover_(config.flow, config.optimizer, address) {}

  Matrix<double> theta;  // (M,P)
  Matrix<double> score;  // at the last step

  // Training step k on what a history of all observations keeps.
  void step(const std::vector<PlainObservation>& history, std::uint32_t k) {
    std::vector<PlainObservation> kept = history;
    const auto capacity = static_cast<std::size_t>(config_.memory.capacity);
    if (capacity > 0 && history.size() > capacity) {
      kept.resize(capacity);
      for (std::size_t t = 0; t < history.size(); ++t) kept[t % capacity] = history[t];
    }
    std::vector<PlainObservation> batch;
    Address address = address_;
    address.purpose = Purpose::minibatch;
    address.step = k;
    Stream draws(address);
    for (int b = 0; b < config_.batch; ++b) batch.push_back(kept[draws.index(static_cast<std::uint32_t>(kept.size()))]);
    if (config_.batch == 0) batch = kept;
    const auto B = static_cast<double>(batch.size()), n = static_cast<double>(kept.size());
    const double scale = config_.scale == LikelihoodScale::data   ? n / B
                         : config_.scale == LikelihoodScale::mean ? 1.0 / B
                                                                  : 1.0;
    score.reshape(theta.rows(), theta.cols());
    for (std::size_t i = 0; i < theta.rows(); ++i) {
      std::ranges::copy(plain_score(model_, theta.row(i), batch, scale), score.row(i).begin());
    }
    mover_.step(theta, score);
  }

 private:
  PosteriorConfig config_;
  PlainModel model_;
  Address address_;
  Mover<double> mover_;
};

}  // namespace pits::test
