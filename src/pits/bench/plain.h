// The same work as readable loops over one number after another: what one would write first. Checked against the
// library in tests/bench.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/model/minibatch.h"

namespace pits::bench {

// M networks d-h-h-K with ReLU, layer by layer weights (out,in) and biases, Gaussian noise, fan-in prior, SVGD, Adam.
struct PlainNetworks {
  std::vector<std::size_t> widths;  // d, h, h, K
  float noise_sd;
  Particles theta;                     // (M,P)
  Matrix<float> score, first, second;  // (M,P)
  int steps = 0;

  PlainNetworks(std::vector<std::size_t> widths_, float noise_sd_, ParticlesView start);

  void step(const Minibatch& batch, float learning_rate);
  std::uint32_t best_action(std::size_t particle, std::span<const float> x);

 private:
  void forward(const float* theta_i, std::span<const float> x);
  void add_likelihood_score(std::size_t i, const Minibatch& batch);
  void add_prior_score(std::size_t i);
  void svgd(Matrix<float>& v) const;
  void adam(const Matrix<float>& v, float learning_rate);

  std::vector<std::vector<float>> units_;  // of every layer, the context first
  std::vector<std::vector<float>> delta_;
};

}  // namespace pits::bench
