// The reward model by scalar loops in double: the reference that the SIMD code is compared with. It shares nothing with
// it but the config and the layout of a particle (layer by layer: weights (out,in) row-major, biases; then log σ).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "pits/model/reward_model.h"

namespace pits::test {

struct PlainObservation {
  std::vector<double> x;
  std::size_t action;
  double reward;
};

struct PlainModel {
  ModelConfig config;
  std::size_t d, K;

  bool bernoulli() const { return config.kind == ModelKind::logistic || config.kind == ModelKind::mlp_logistic; }

  // d, the hidden widths, K.
  std::vector<std::size_t> widths() const {
    std::vector<std::size_t> w = {d};
    const bool flat = config.kind == ModelKind::linear || config.kind == ModelKind::logistic;
    for (const int h : flat ? std::vector<int>{} : config.hidden) w.push_back(static_cast<std::size_t>(h));
    w.push_back(K);
    return w;
  }

  std::size_t network_parameters() const {
    const auto w = widths();
    std::size_t P = 0;
    for (std::size_t l = 0; l + 1 < w.size(); ++l) P += w[l + 1] * w[l] + w[l + 1];
    return P;
  }
  std::size_t noise_parameters() const {
    if (bernoulli() || config.noise == Noise::fixed) return 0;
    return config.noise == Noise::learned ? 1 : K;
  }
  std::size_t parameters() const { return network_parameters() + noise_parameters(); }

  // The K outputs before any sigmoid. `nearest_kink`, where given, is lowered to the smallest |z| of a hidden unit.
  std::vector<double> outputs(std::span<const double> theta, std::vector<double> x,
                              double* nearest_kink = nullptr) const {
    const auto w = widths();
    std::size_t at = 0;
    for (std::size_t l = 0; l + 1 < w.size(); ++l) {
      const std::size_t biases = at + w[l + 1] * w[l];
      std::vector<double> z(w[l + 1]);
      for (std::size_t i = 0; i < w[l + 1]; ++i) {
        z[i] = theta[biases + i];
        for (std::size_t j = 0; j < w[l]; ++j) z[i] += theta[at + i * w[l] + j] * x[j];
        if (l + 2 == w.size()) continue;
        if (nearest_kink != nullptr) *nearest_kink = std::min(*nearest_kink, std::abs(z[i]));
        z[i] = config.activation == Activation::relu ? std::max(z[i], 0.0) : std::tanh(z[i]);
      }
      at = biases + w[l + 1];
      x = std::move(z);
    }
    return x;
  }

  // Mean reward of every action.
  std::vector<double> predict(std::span<const double> theta, const std::vector<double>& x) const {
    std::vector<double> m = outputs(theta, x);
    if (bernoulli()) {
      for (double& value : m) value = 1.0 / (1.0 + std::exp(-value));
    }
    return m;
  }

  double noise_sd(std::span<const double> theta, std::size_t action) const {
    if (config.noise == Noise::fixed) return config.noise_sd;
    return std::exp(theta[network_parameters() + (config.noise == Noise::learned_per_action ? action : 0)]);
  }

  // log p(r | x, a, θ), normalised.
  double log_likelihood(std::span<const double> theta, const PlainObservation& o) const {
    const double m = outputs(theta, o.x)[o.action];
    if (bernoulli()) return o.reward * m - std::log1p(std::exp(m));
    const double sd = noise_sd(theta, o.action);
    const double z = (o.reward - m) / sd;
    return -0.5 * z * z - std::log(sd) - 0.5 * std::log(2.0 * std::numbers::pi);
  }

  // log p0(θ) up to a constant.
  double log_prior(std::span<const double> theta) const {
    const auto w = widths();
    double sum = 0.0;
    std::size_t at = 0;
    for (std::size_t l = 0; l + 1 < w.size(); ++l) {
      const double fan_in = config.prior == PriorScale::fan_in ? static_cast<double>(w[l]) : 1.0;
      for (const std::size_t end = at + w[l + 1] * w[l] + w[l + 1]; at < end; ++at) {
        sum -= 0.5 * config.prior_precision * fan_in * theta[at] * theta[at];
      }
    }
    for (; at < theta.size(); ++at) {
      const double z = (theta[at] - std::log(config.noise_sd)) / config.noise_log_sd;
      sum -= 0.5 * z * z;
    }
    return sum;
  }

  // U(θ) = scale · Σ_b log p(r_b | x_b, a_b, θ) + log p0(θ)
  double log_posterior(std::span<const double> theta, const std::vector<PlainObservation>& data, double scale) const {
    double sum = 0.0;
    for (const PlainObservation& o : data) sum += log_likelihood(theta, o);
    return scale * sum + log_prior(theta);
  }

  // How far the hidden units of this particle are from the kink of a ReLU on these data.
  double nearest_kink(std::span<const double> theta, const std::vector<PlainObservation>& data) const {
    double nearest = std::numeric_limits<double>::infinity();
    for (const PlainObservation& o : data) outputs(theta, o.x, &nearest);
    return nearest;
  }
};

// Central differences; the error is h²/6 times the third derivative plus |f|·1e-16/h.
template <class F>
std::vector<double> central_differences(const F& f, std::vector<double> theta, double h = 1e-5) {
  std::vector<double> gradient(theta.size());
  for (std::size_t l = 0; l < theta.size(); ++l) {
    const double at = theta[l];
    theta[l] = at + h;
    const double above = f(theta);
    theta[l] = at - h;
    gradient[l] = (above - f(theta)) / (2.0 * h);
    theta[l] = at;
  }
  return gradient;
}

inline double norm(std::span<const double> x) {
  double square = 0.0;
  for (const double value : x) square += value * value;
  return std::sqrt(square);
}

inline std::vector<double> as_double(std::span<const float> x) { return {x.begin(), x.end()}; }

}  // namespace pits::test
