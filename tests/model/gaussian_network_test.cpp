#include "pits/model/gaussian_network.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/plain_gaussian.h"

namespace pits::test {
namespace {

std::vector<double> widened(const std::vector<float>& x) { return {x.begin(), x.end()}; }

GaussianProblem any_problem(Activation activation) {
  std::vector<int> hidden(any_between(0, 3));
  for (int& width : hidden) width = static_cast<int>(any_between(1, 12));
  return gaussian_problem(hidden, any_between(1, 12), any_between(1, 6), any_between(1, 40), activation,
                          *rc::gen::arbitrary<std::uint64_t>());
}

std::vector<float> forward(const GaussianProblem& p, GaussianNetwork::Workspace& w) {
  w.noise = p.noise;
  std::vector<float> out(p.data.size());
  p.network.forward({p.mean, p.variance}, p.batch, w, out);
  return out;
}

RC_GTEST_PROP(GaussianNetwork, ForwardIsThePlainLoops, ()) {
  const GaussianProblem p = any_problem(*rc::gen::element(Activation::relu, Activation::tanh));
  GaussianNetwork::Workspace w;
  const std::vector<float> out = forward(p, w);
  for (std::size_t b = 0; b < out.size(); ++b) {
    const double expected =
        p.plain.output(widened(p.mean), widened(p.variance), p.data[b].x, p.data[b].action, p.noise_of(b));
    RC_ASSERT(std::abs(out[b] - expected) < 1e-4 * (1.0 + std::abs(expected)));
  }
}

// Central differences of Σ_b delta_b output_b by every mean and variance. tanh: relu's kinks have no difference.
RC_GTEST_PROP(GaussianNetwork, BackwardIsTheFiniteDifference, ()) {
  const GaussianProblem p = any_problem(Activation::tanh);
  const std::size_t B = p.data.size();
  std::vector<float> delta(B);
  Stream({.seed = B, .purpose = Purpose::target_sample}).fill_normal(delta);
  const std::size_t P = p.mean.size();
  std::vector<float> by_mean(P), by_variance(P);
  GaussianNetwork::Workspace w;
  forward(p, w);
  p.network.backward({p.mean, p.variance}, p.batch, delta, w, {by_mean, by_variance});
  const auto value = [&](const std::vector<double>& mean, const std::vector<double>& variance) {
    double sum = 0.0;
    for (std::size_t b = 0; b < B; ++b) {
      sum += delta[b] * p.plain.output(mean, variance, p.data[b].x, p.data[b].action, p.noise_of(b));
    }
    return sum;
  };
  const auto difference = [&](bool of_mean, std::size_t i) {
    constexpr double h = 1e-5;
    std::vector<double> mean = widened(p.mean), variance = widened(p.variance);
    double& moved = (of_mean ? mean : variance)[i];
    moved += h;
    const double above = value(mean, variance);
    moved -= 2 * h;
    return (above - value(mean, variance)) / (2 * h);
  };
  const std::size_t stride = 1 + P / 40;  // about forty of them
  for (std::size_t i = 0; i < P; i += stride) {
    const double slope = difference(true, i), variance_slope = difference(false, i);
    RC_ASSERT(std::abs(by_mean[i] - slope) < 2e-3 * (1.0 + std::abs(slope)));
    RC_ASSERT(std::abs(by_variance[i] - variance_slope) < 2e-3 * (1.0 + std::abs(variance_slope)));
  }
}

TEST(GaussianNetwork, WithoutNoiseIsTheNetworkOfItsMeans) {
  const GaussianProblem p = gaussian_problem({7, 5}, 4, 3, 20, Activation::relu, 3);
  const Network network(4, {7, 5}, 3, Activation::relu);
  Network::Workspace plain;
  std::vector<float> expected(20), out(20);
  network.forward(p.mean, p.batch, plain, expected);
  GaussianNetwork::Workspace w;
  w.noise.reshape(p.network.draws(), 20);
  p.network.forward({p.mean, p.variance}, p.batch, w, out);
  // Sums run in another order in the one than in the other: two roundings of up to eight terms of size 4 at most.
  for (std::size_t b = 0; b < out.size(); ++b) EXPECT_NEAR(out[b], expected[b], 2 * 8 * 4 * 0x1p-23);

  const std::vector<float> none(p.variance.size(), 0.0F);
  const std::vector<float> x = {0.3F, -1.0F, 2.0F, 0.1F};
  std::vector<float> all(3), sampled(3);
  network.evaluate(p.mean, x, plain, all);
  Stream stream({.seed = 1});
  p.network.sample({p.mean, none}, x, stream, w, sampled);
  for (std::size_t a = 0; a < all.size(); ++a) EXPECT_NEAR(sampled[a], all[a], 2 * 8 * 4 * 0x1p-23);
}

// One linear layer: every output is N(μ·x + b, Σ σ² x²), independent. Four standard errors of mean and variance.
TEST(GaussianNetwork, SamplesHaveTheClosedFormsMeanAndVariance) {
  const GaussianProblem p = gaussian_problem({}, 5, 2, 1, Activation::relu, 8);
  const std::vector<float> x = {1.0F, -0.5F, 2.0F, 0.0F, 0.7F};
  constexpr int n = 20000;
  double sum[2] = {}, square[2] = {}, cross = 0.0, mean[2], variance[2] = {};
  for (std::size_t a = 0; a < 2; ++a) {
    mean[a] = p.mean[10 + a];
    for (std::size_t j = 0; j < 5; ++j) {
      mean[a] += p.mean[a * 5 + j] * x[j];
      variance[a] += p.variance[a * 5 + j] * x[j] * x[j];
    }
  }
  GaussianNetwork::Workspace w;
  std::vector<float> out(2);
  for (std::uint32_t i = 0; i < n; ++i) {
    Stream stream({.seed = 4, .purpose = Purpose::target_sample, .step = i});
    p.network.sample({p.mean, p.variance}, x, stream, w, out);
    for (std::size_t a = 0; a < 2; ++a) {
      sum[a] += out[a] - mean[a];
      square[a] += std::pow(out[a] - mean[a], 2);
    }
    cross += (out[0] - mean[0]) * (out[1] - mean[1]);
  }
  for (std::size_t a = 0; a < 2; ++a) {
    EXPECT_NEAR(sum[a] / n, 0.0, 4.0 * std::sqrt(variance[a] / n));
    EXPECT_NEAR(square[a] / n, variance[a], 4.0 * variance[a] * std::sqrt(2.0 / n));
  }
  EXPECT_NEAR(cross / n, 0.0, 4.0 * std::sqrt(variance[0] * variance[1] / n));
}

// Drawing the units' inputs has the distribution of drawing the weights: the outputs' mean and variance over both
// ways of a two-layer network agree within four standard errors.
TEST(GaussianNetwork, SamplingUnitsIsSamplingWeights) {
  const GaussianProblem p = gaussian_problem({6}, 3, 1, 1, Activation::relu, 21);
  const std::vector<float> x = {1.0F, -0.5F, 2.0F};
  constexpr int n = 40000;
  const Network network(3, {6}, 1, Activation::relu);
  double moment[2][4] = {};
  GaussianNetwork::Workspace w;
  Network::Workspace plain;
  std::vector<float> out(1), theta(p.mean.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    Stream stream({.seed = 9, .purpose = Purpose::target_sample, .step = i});
    for (int way = 0; way < 2; ++way) {
      if (way == 0) {
        p.network.sample({p.mean, p.variance}, x, stream, w, out);
      } else {
        for (std::size_t j = 0; j < theta.size(); ++j) {
          const bool bias = (j >= 18 && j < 24) || j == 30;
          theta[j] = p.mean[j] + (bias ? 0.0F : std::sqrt(p.variance[j]) * static_cast<float>(stream.normal()));
        }
        network.evaluate(theta, x, plain, out);
      }
      for (int k = 0; k < 4; ++k) moment[way][k] += std::pow(static_cast<double>(out[0]), k + 1) / n;
    }
  }
  for (int k = 0; k < 2; ++k) {  // Var xᵏ from the moments of order 2k
    const double variance = moment[1][2 * k + 1] - moment[1][k] * moment[1][k];
    EXPECT_NEAR(moment[0][k], moment[1][k], 4.0 * std::sqrt(2.0 * variance / n));
  }
}

}  // namespace
}  // namespace pits::test
