// A network with Gaussian weights by scalar loops in double, for the comparisons. Shares with the code under test only
// the layout: layer by layer weights (out,in) row-major, then biases.
#pragma once

#include <cmath>
#include <vector>

#include "model/random_problem.h"
#include "pits/model/gaussian_network.h"

namespace pits::test {

struct PlainGaussian {
  std::vector<std::size_t> widths;  // d, hidden..., K
  Activation activation = Activation::tanh;
  double floor = 1e-6;

  std::size_t parameters() const {
    std::size_t P = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) P += widths[l + 1] * (widths[l] + 1);
    return P;
  }

  // The output of `action`, with one draw a hidden unit in order, and the last one for the output.
  double output(const std::vector<double>& mean, const std::vector<double>& variance, std::vector<double> x,
                std::size_t action, const std::vector<double>& noise) const {
    std::size_t at = 0, draw = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      const std::size_t in = widths[l], out = widths[l + 1], biases = at + in * out;
      const bool last = l + 2 == widths.size();
      std::vector<double> z(out);
      for (std::size_t i = 0; i < out; ++i) {
        if (last && i != action) continue;
        double m = mean[biases + i], v = floor;
        for (std::size_t j = 0; j < in; ++j) {
          m += mean[at + i * in + j] * x[j];
          v += variance[at + i * in + j] * x[j] * x[j];
        }
        z[i] = m + std::sqrt(v) * noise[draw++];
        if (!last) z[i] = activation == Activation::tanh ? std::tanh(z[i]) : std::max(z[i], 0.0);
      }
      at = biases + out;
      x = std::move(z);
    }
    return x[action];
  }
};

// A random network with Gaussian weights, observations and draws.
struct GaussianProblem {
  PlainGaussian plain;
  GaussianNetwork network;
  std::vector<float> mean, variance;
  std::vector<PlainObservation> data;  // in the minibatch's order: grouped by action
  Minibatch batch;
  Matrix<float> noise;  // (draws,B)

  std::vector<double> noise_of(std::size_t b) const {
    std::vector<double> column(noise.rows());
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = noise(i, b);
    return column;
  }
};

inline GaussianProblem gaussian_problem(std::vector<int> hidden, std::size_t d, std::size_t K, std::size_t B,
                                        Activation activation, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  PlainGaussian plain{.widths = {d}, .activation = activation};
  for (const int h : hidden) plain.widths.push_back(static_cast<std::size_t>(h));
  plain.widths.push_back(K);
  GaussianProblem p{.plain = plain,
                    .network = GaussianNetwork(d, hidden, K, activation),
                    .mean = std::vector<float>(plain.parameters()),
                    .variance = std::vector<float>(plain.parameters()),
                    .data = {},
                    .batch = {},
                    .noise = {}};
  for (float& m : p.mean) m = static_cast<float>(float_normal(stream, 0.5));
  for (float& v : p.variance) v = 0.01F + 0.2F * stream.uniform_float();
  for (std::size_t b = 0; b < B; ++b) {
    PlainObservation o{.x = std::vector<double>(d),
                       .action = stream.index(static_cast<std::uint32_t>(K)),
                       .reward = float_normal(stream)};
    for (double& x : o.x) x = float_normal(stream);
    p.data.push_back(std::move(o));
  }
  std::ranges::stable_sort(p.data, {}, &PlainObservation::action);
  p.batch = make_minibatch(p.data, d, K, 1.0 / static_cast<double>(B));
  p.noise.reshape(p.network.draws(), B);
  stream.fill_normal(p.noise.flat());
  return p;
}

}  // namespace pits::test
