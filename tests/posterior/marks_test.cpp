// What each particle makes of an observation: how often it is kept, how it is weighed, how its reward is perturbed.
#include <gtest/gtest.h>

#include <cmath>

#include "posterior/observations.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 2;
constexpr std::size_t K = 2;
constexpr std::size_t n = 2000;
constexpr std::size_t M = 5;

Posterior posterior_with(const DataPerturbation& perturbation, std::uint64_t seed = 3, int train = 0) {
  PosteriorConfig config{.particles = M, .batch = 4};
  config.model.hidden = {3};
  config.model.noise_sd = 0.5;
  config.perturbation = perturbation;
  Posterior posterior(config, d, K, {.seed = seed, .realization = 1});
  for (const PlainObservation& o : linear_data(n, d, K, 11)) {
    observe(posterior, o);
    if (train > 0 && posterior.history().seen() % 500 == 0) posterior.train(train);
  }
  return posterior;
}

struct Moments {
  double mean = 0.0, square = 0.0;
};

Moments moments(const History& history, std::span<const float> Observation::*marks, std::size_t particle) {
  Moments m;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const double x = (history[i].*marks)[particle];
    m.mean += x / static_cast<double>(n);
    m.square += x * x / static_cast<double>(n);
  }
  return m;
}

// 4.5 standard errors everywhere; five particles.
TEST(Marks, AreKeptWithTheirProbability) {
  const Posterior posterior = posterior_with({.weights = BootstrapWeights::kept, .keep = 0.8});
  for (std::size_t i = 0; i < M; ++i) {
    const Moments m = moments(posterior.history(), &Observation::weights, i);
    EXPECT_NEAR(m.mean, 0.8, 4.5 * std::sqrt(0.16 / n));
    EXPECT_NEAR(m.square, m.mean, 1e-9);  // each is 0 or 1
  }
}

// Exp(1): mean 1 and variance 1; the square has mean 2 and variance 24 − 4.
TEST(Marks, ExponentialWeightsHaveMeanOneAndVarianceOne) {
  const Posterior posterior = posterior_with({.weights = BootstrapWeights::exponential});
  for (std::size_t i = 0; i < M; ++i) {
    const Moments m = moments(posterior.history(), &Observation::weights, i);
    EXPECT_NEAR(m.mean, 1.0, 4.5 * std::sqrt(1.0 / n));
    EXPECT_NEAR(m.square, 2.0, 4.5 * std::sqrt(20.0 / n));
  }
}

TEST(Marks, OffsetsHaveTheNoiseOfTheModel) {
  const Posterior posterior = posterior_with({.rewards = true, .anchors = true});
  for (std::size_t i = 0; i < M; ++i) {
    const Moments m = moments(posterior.history(), &Observation::offsets, i);
    EXPECT_NEAR(m.mean, 0.0, 4.5 * 0.5 / std::sqrt(n));
    EXPECT_NEAR(m.square, 0.25, 4.5 * 0.25 * std::sqrt(2.0 / n));
  }
}

// Between particles: E[w_i w_j] of independent Exp(1) is 1, with variance 4 − 1.
TEST(Marks, OfTwoParticlesAreIndependent) {
  const Posterior posterior = posterior_with({.weights = BootstrapWeights::exponential});
  for (std::size_t i = 1; i < M; ++i) {
    double product = 0.0;
    for (std::size_t t = 0; t < n; ++t) {
      product += double{posterior.history()[t].weights[0]} * posterior.history()[t].weights[i] / n;
    }
    EXPECT_NEAR(product, 1.0, 4.5 * std::sqrt(3.0 / n));
  }
}

// Marks have an address: training between the observations does not move them, another seed does.
TEST(Marks, DependOnTheSeedAndTheObservationsNumberOnly) {
  const DataPerturbation all{.weights = BootstrapWeights::exponential, .rewards = true};
  const Posterior base = posterior_with(all);
  const Posterior trained = posterior_with(all, 3, 2);
  const Posterior other = posterior_with(all, 4);
  ASSERT_GT(trained.steps_done(), 0);
  for (std::size_t t = 0; t < n; t += 37) {
    EXPECT_TRUE(std::ranges::equal(trained.history()[t].weights, base.history()[t].weights));
    EXPECT_TRUE(std::ranges::equal(trained.history()[t].offsets, base.history()[t].offsets));
    EXPECT_FALSE(std::ranges::equal(other.history()[t].weights, base.history()[t].weights));
  }
}

TEST(Marks, RefuseWhatDoesNotFit) {
  PosteriorConfig config;
  config.perturbation.rewards = true;
  config.model.kind = ModelKind::logistic;
  EXPECT_THROW(Posterior(config, d, K, {.seed = 1}), Error);
  config = {};
  config.perturbation.anchors = true;
  config.model.init = Init::fan_in;
  EXPECT_THROW(Posterior(config, d, K, {.seed = 1}), Error);
  config = {};
  config.perturbation.keep = 0.0;
  EXPECT_THROW(Posterior(config, d, K, {.seed = 1}), Error);
}

}  // namespace
}  // namespace pits::test
