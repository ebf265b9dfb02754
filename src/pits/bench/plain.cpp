#include "pits/bench/plain.h"

#include <algorithm>
#include <cmath>

#include "pits/posterior/posterior.h"

namespace pits::bench {

PlainNetworks::PlainNetworks(std::vector<std::size_t> widths_, float noise_sd_, ParticlesView start)
    : widths(std::move(widths_)),
      noise_sd(noise_sd_),
      theta(copy_of(start)),
      score(start.rows(), start.cols()),
      first(start.rows(), start.cols()),
      second(start.rows(), start.cols()) {
  for (const std::size_t width : widths) {
    units_.emplace_back(width);
    delta_.emplace_back(width);
  }
}

void PlainNetworks::forward(const float* w, std::span<const float> x) {
  std::ranges::copy(x, units_[0].begin());
  for (std::size_t l = 1; l < widths.size(); ++l) {
    const float* biases = w + widths[l] * widths[l - 1];
    for (std::size_t i = 0; i < widths[l]; ++i) {
      float z = biases[i];
      for (std::size_t j = 0; j < widths[l - 1]; ++j) z += w[i * widths[l - 1] + j] * units_[l - 1][j];
      units_[l][i] = l + 1 < widths.size() ? std::max(z, 0.0F) : z;
    }
    w = biases + widths[l];
  }
}

void PlainNetworks::add_likelihood_score(std::size_t i, const Minibatch& batch) {
  const float precision = batch.likelihood_scale / (noise_sd * noise_sd);
  std::vector<float> x(widths[0]);
  for (std::size_t a = 0; a < widths.back(); ++a) {
    for (std::size_t b = batch.group_start[a]; b < batch.group_start[a + 1]; ++b) {
      for (std::size_t j = 0; j < x.size(); ++j) x[j] = batch.contexts(j, b);
      forward(theta.row(i).data(), x);
      std::ranges::fill(delta_.back(), 0.0F);
      delta_.back()[a] = precision * (batch.rewards[b] - units_.back()[a]);
      std::size_t end = theta.cols();
      for (std::size_t l = widths.size() - 1; l > 0; --l) {
        const std::size_t biases = end - widths[l], weights = biases - widths[l] * widths[l - 1];
        std::ranges::fill(delta_[l - 1], 0.0F);
        for (std::size_t o = 0; o < widths[l]; ++o) {
          const float d = delta_[l][o];
          if (d == 0.0F) continue;
          score(i, biases + o) += d;
          for (std::size_t j = 0; j < widths[l - 1]; ++j) {
            score(i, weights + o * widths[l - 1] + j) += d * units_[l - 1][j];
            delta_[l - 1][j] += d * theta(i, weights + o * widths[l - 1] + j);
          }
        }
        for (std::size_t j = 0; j < widths[l - 1]; ++j) {
          if (units_[l - 1][j] <= 0.0F) delta_[l - 1][j] = 0.0F;
        }
        end = weights;
      }
    }
  }
}

// A prior precision of 1 times the layer's inputs.
void PlainNetworks::add_prior_score(std::size_t i) {
  std::size_t p = 0;
  for (std::size_t l = 1; l < widths.size(); ++l) {
    const std::size_t end = p + widths[l] * (widths[l - 1] + 1);
    for (; p < end; ++p) score(i, p) -= static_cast<float>(widths[l - 1]) * theta(i, p);
  }
}

// v_i = (1/M) Σ_j k_ij (G_j + (2/h)(θ_i − θ_j)), h = median/log(M+1).
void PlainNetworks::svgd(Matrix<float>& v) const {
  const std::size_t M = theta.rows(), P = theta.cols();
  std::vector<float> d2;
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      float sum = 0.0F;
      for (std::size_t p = 0; p < P; ++p) sum += (theta(i, p) - theta(j, p)) * (theta(i, p) - theta(j, p));
      d2.push_back(sum);
    }
  }
  std::vector<float> sorted = d2;
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  const float median = sorted.size() % 2 == 1 ? sorted[middle] : 0.5F * (sorted[middle - 1] + sorted[middle]);
  const float h = median / std::log(static_cast<float>(M) + 1.0F);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      const float k = std::exp(-d2[i * M + j] / h) / static_cast<float>(M);
      for (std::size_t p = 0; p < P; ++p) v(i, p) += k * (score(j, p) + 2.0F / h * (theta(i, p) - theta(j, p)));
    }
  }
}

void PlainNetworks::adam(const Matrix<float>& v, float learning_rate) {
  ++steps;
  const float mean_correction = 1.0F - std::pow(0.9F, static_cast<float>(steps));
  const float square_correction = 1.0F - std::pow(0.999F, static_cast<float>(steps));
  for (std::size_t n = 0; n < theta.size(); ++n) {
    float& m = first.data()[n];
    float& s = second.data()[n];
    const float x = v.data()[n];
    m = 0.9F * m + 0.1F * x;
    s = 0.999F * s + 0.001F * x * x;
    theta.data()[n] += learning_rate * (m / mean_correction) / (std::sqrt(s / square_correction) + 1e-8F);
  }
}

void PlainNetworks::step(const Minibatch& batch, float learning_rate) {
  std::ranges::fill(score.flat(), 0.0F);
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    add_likelihood_score(i, batch);
    add_prior_score(i);
  }
  Matrix<float> v(theta.rows(), theta.cols());
  svgd(v);
  adam(v, learning_rate);
}

std::uint32_t PlainNetworks::best_action(std::size_t particle, std::span<const float> x) {
  forward(theta.row(particle).data(), x);
  const auto& out = units_.back();
  return static_cast<std::uint32_t>(std::ranges::max_element(out) - out.begin());
}

}  // namespace pits::bench
