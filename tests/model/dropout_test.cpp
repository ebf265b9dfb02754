#include "pits/model/dropout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/random_problem.h"

namespace pits::test {
namespace {

std::vector<std::uint32_t> some_words(std::size_t n, std::uint64_t seed) {
  std::vector<std::uint32_t> words(n);
  fill_words({.seed = seed, .purpose = Purpose::target_sample}, 0, words);
  return words;
}

// The network by scalar loops, with a factor for every hidden unit, in the order of the layers.
double plain_output(const std::vector<std::size_t>& widths, const std::vector<double>& theta, std::vector<double> x,
                    std::size_t action, const std::vector<double>& scale) {
  std::size_t at = 0, unit = 0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const std::size_t in = widths[l], out = widths[l + 1];
    std::vector<double> z(out);
    for (std::size_t i = 0; i < out; ++i) {
      z[i] = theta[at + in * out + i];
      for (std::size_t j = 0; j < in; ++j) z[i] += theta[at + i * in + j] * x[j];
      if (l + 2 < widths.size()) z[i] = scale[unit++] * std::tanh(z[i]);
    }
    at += in * out + out;
    x = std::move(z);
  }
  return x[action];
}

// tanh, whose slope depends on the value that dropout scales; two hidden layers.
RC_GTEST_PROP(Dropout, GradientIsTheFiniteDifferenceUnderTheSameMask, ()) {
  const std::vector<int> hidden = {static_cast<int>(any_between(1, 9)), static_cast<int>(any_between(1, 9))};
  const std::size_t d = any_between(1, 6), K = any_between(1, 4), B = any_between(1, 12);
  const double keep = *rc::gen::element(0.3, 0.8, 1.0);
  const Network network(d, hidden, K, Activation::tanh);
  const std::vector<std::size_t> widths = {d, static_cast<std::size_t>(hidden[0]), static_cast<std::size_t>(hidden[1]),
                                           K};
  Stream stream({.seed = *rc::gen::arbitrary<std::uint64_t>(), .purpose = Purpose::target_sample});
  std::vector<float> theta(network.parameters()), delta(B), out(B), gradient(theta.size());
  stream.fill_normal(theta, 0.7F);
  stream.fill_normal(delta);
  std::vector<PlainObservation> data(B);
  for (PlainObservation& o : data) {
    o = {.x = std::vector<double>(d), .action = stream.index(static_cast<std::uint32_t>(K)), .reward = 0.0};
    for (double& x : o.x) x = float_normal(stream);
  }
  std::ranges::stable_sort(data, {}, &PlainObservation::action);
  const Minibatch batch = make_minibatch(data, d, K, 1.0);
  Network::Workspace w;
  set_dropout(network, keep, B, some_words(dropout_words(network, B), 3), w.unit_scale);
  const auto scale = w.unit_scale;
  network.forward(theta, batch, w, out);
  network.backward(theta, batch, delta, w, gradient);

  const auto value = [&](const std::vector<double>& at) {
    double sum = 0.0;
    for (std::size_t b = 0; b < B; ++b) {
      std::vector<double> factors;
      for (const auto& layer : scale) {
        for (std::size_t i = 0; i < layer.rows(); ++i) factors.push_back(layer(i, b));
      }
      sum += delta[b] * plain_output(widths, at, data[b].x, data[b].action, factors);
    }
    return sum;
  };
  for (std::size_t i = 0; i < theta.size(); i += 1 + theta.size() / 40) {
    std::vector<double> above(theta.begin(), theta.end()), below = above;
    above[i] += 1e-5;
    below[i] -= 1e-5;
    const double slope = (value(above) - value(below)) / 2e-5;
    RC_ASSERT(std::abs(gradient[i] - slope) < 1e-3 * (1.0 + std::abs(slope)));
  }
}

TEST(Dropout, KeepsItsShareOfUnitsAndTheMean) {
  const Network network(2, {30, 20}, 3, Activation::relu);
  constexpr std::size_t B = 400;
  ASSERT_EQ(dropout_words(network, B), 50 * B);
  std::vector<Matrix<float>> scale;
  set_dropout(network, 0.8, B, some_words(50 * B, 9), scale);
  double kept = 0.0;
  for (const auto& layer : scale) {
    for (const float s : layer.flat()) {
      EXPECT_TRUE(s == 0.0F || s == 1.25F);
      kept += s > 0.0F;
    }
  }
  constexpr double n = 50.0 * B;
  EXPECT_NEAR(kept / n, 0.8, 4.0 * std::sqrt(0.16 / n));
}

TEST(Dropout, KeepingAllIsNoDropout) {
  const Network network(2, {30}, 3, Activation::relu);
  std::vector<Matrix<float>> scale;
  const std::uint32_t extremes[] = {0, 0xffffffffU};
  std::vector<std::uint32_t> words(30);
  for (std::size_t i = 0; i < 30; ++i) words[i] = extremes[i % 2];
  set_dropout(network, 1.0, 1, words, scale);
  for (const float s : scale[0].flat()) EXPECT_EQ(s, 1.0F);
}

// One hidden layer, linear in the mask: the mean over dropout is the network without it, within four standard errors.
TEST(Dropout, ActsLikeTheNetworkOnAverage) {
  const Network network(3, {12}, 2, Activation::relu);
  Stream stream({.seed = 2, .purpose = Purpose::target_sample});
  std::vector<float> theta(network.parameters()), out(2), expected(2);
  stream.fill_normal(theta);
  const std::vector<float> x = {0.4F, -1.0F, 0.6F};
  Network::Workspace plain, w;
  network.evaluate(theta, x, plain, expected);
  constexpr int n = 20000;
  double sum[2] = {}, square[2] = {};
  for (int i = 0; i < n; ++i) {
    evaluate_with_dropout(network, theta, 0.8, x, stream, w, out);
    for (std::size_t a = 0; a < 2; ++a) {
      const double difference = out[a] - expected[a];
      sum[a] += difference / n;
      square[a] += difference * difference / n;
    }
  }
  for (std::size_t a = 0; a < 2; ++a) {
    EXPECT_GT(square[a], 0.0);
    EXPECT_NEAR(sum[a], 0.0, 4.0 * std::sqrt(square[a] / n));
  }
}

}  // namespace
}  // namespace pits::test
