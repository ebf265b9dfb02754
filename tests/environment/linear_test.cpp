#include "pits/environment/linear.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "environment/statistics.h"

namespace pits::test {
namespace {

constexpr std::size_t rounds = 40000;

TEST(Linear, CoefficientsHaveNormOne) {
  for (const LinearConfig& config : {linear_preset("d10"), linear_preset("d20"), sparse_linear_preset("d10"),
                                     sparse_linear_preset("d20"), LinearConfig{.dimension = 1}}) {
    for (std::uint32_t realization = 0; realization < 20; ++realization) {
      const Linear problem(config, {.seed = 3, .realization = realization});
      ASSERT_EQ(problem.coefficients().rows(), config.dimension);
      ASSERT_EQ(problem.coefficients().cols(), config.actions);
      for (const auto& beta : problem.coefficients().colwise()) EXPECT_NEAR(beta.norm(), 1.0, 1e-12);
    }
  }
}

// U(−1,1) scaled by its norm: both signs equally likely, and every coordinate has mean square 1/d.
TEST(Linear, CoefficientsAreSymmetricAndNoCoordinateIsPreferred) {
  constexpr std::uint32_t n = 2000;
  constexpr Eigen::Index d = 4;
  Eigen::VectorXd positive = Eigen::VectorXd::Zero(d);
  Eigen::VectorXd square = Eigen::VectorXd::Zero(d);
  for (std::uint32_t r = 0; r < n; ++r) {
    const Linear problem({.dimension = d, .actions = 1}, {.seed = 4, .realization = r});
    const Eigen::VectorXd beta = problem.coefficients().col(0);
    positive += (beta.array() > 0.0).cast<double>().matrix();
    square += beta.cwiseAbs2();
  }
  for (Eigen::Index l = 0; l < d; ++l) {
    expect_share(positive[l], n, 0.5);
    EXPECT_NEAR(square[l] / n, 1.0 / d, 4.5 * 0.25 / std::sqrt(n));  // a square in (0,1) of mean 1/4 has sd below 1/4
  }
}

TEST(SparseLinear, HasAThirdOfTheCoordinatesEachEquallyOften) {
  for (const auto& [preset, kept] : {std::pair{"d10", 3}, {"d20", 6}}) {
    const LinearConfig config = sparse_linear_preset(preset);
    std::vector<double> used(static_cast<std::size_t>(config.dimension), 0.0);
    for (std::uint32_t r = 0; r < 300; ++r) {
      const Linear problem(config, {.seed = 5, .realization = r});
      for (const auto& beta : problem.coefficients().colwise()) {
        EXPECT_EQ((beta.array() != 0.0).count(), kept);
        for (std::size_t l = 0; l < used.size(); ++l) used[l] += beta[static_cast<Eigen::Index>(l)] != 0.0;
      }
    }
    for (const double count : used) expect_share(count, 300.0 * 7, static_cast<double>(kept) / config.dimension);
  }
}

TEST(SparseLinear, KeepsOneCoordinateOfFewerThanThree) {
  const Linear problem({.dimension = 2, .actions = 4, .support = Support::third}, {.seed = 1});
  for (const auto& beta : problem.coefficients().colwise()) EXPECT_EQ((beta.array() != 0.0).count(), 1);
}

RC_GTEST_PROP(Linear, MeanRewardsAreTheScalarProducts, (std::uint32_t seed, std::uint16_t t)) {
  const LinearConfig config{.dimension = *rc::gen::inRange(1, 12),
                            .actions = *rc::gen::inRange(1, 9),
                            .support = *rc::gen::element(Support::all, Support::third)};
  const Linear problem(config, {.seed = seed});
  Round round;
  problem.draw(t, round);
  for (std::size_t a = 0; a < problem.actions(); ++a) {
    double mean = 0.0;
    for (std::size_t l = 0; l < problem.context_size(); ++l) {
      mean += round.context[l] * problem.coefficients()(static_cast<Eigen::Index>(l), static_cast<Eigen::Index>(a));
    }
    RC_ASSERT(std::abs(round.mean_rewards[a] - mean) < 1e-12 * (1.0 + std::abs(mean)));
  }
}

// Column l: coordinate l of every context.
std::vector<std::vector<double>> contexts_of(const LinearConfig& config) {
  const Linear problem(config, {.seed = 6});
  std::vector<std::vector<double>> columns(problem.context_size());
  Round round;
  for (std::size_t t = 0; t < rounds; ++t) {
    problem.draw(t, round);
    for (std::size_t l = 0; l < columns.size(); ++l) columns[l].push_back(round.context[l]);
  }
  return columns;
}

// Normal pairs: a sample covariance has variance (σ_ii σ_jj + σ_ij²)/n.
void expect_contexts(const LinearConfig& config, const std::vector<double>& mean, const Eigen::MatrixXd& sigma) {
  const auto x = contexts_of(config);
  for (Eigen::Index i = 0; i < sigma.rows(); ++i) {
    const auto& xi = x[static_cast<std::size_t>(i)];
    EXPECT_NEAR(mean_of(xi), mean[static_cast<std::size_t>(i)], 4.5 * std::sqrt(sigma(i, i) / rounds));
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double se = std::sqrt((sigma(i, i) * sigma(j, j) + sigma(i, j) * sigma(i, j)) / rounds);
      EXPECT_NEAR(covariance_of(xi, x[static_cast<std::size_t>(j)]), sigma(i, j), 4.5 * se) << i << ' ' << j;
    }
  }
}

TEST(Linear, ContextsAreStandardNormalByDefault) {
  expect_contexts(linear_preset("d10"), std::vector<double>(10, 0.0), Eigen::MatrixXd::Identity(10, 10));
}

TEST(Linear, ContextsHaveTheMeanAndVariancesOfTheConfig) {
  expect_contexts({.dimension = 3, .mean = {2.0}, .covariance = {4.0}}, {2, 2, 2}, 4.0 * Eigen::Matrix3d::Identity());
  expect_contexts({.dimension = 3, .mean = {1.0, -2.0, 0.5}, .covariance = {1.0, 0.25, 9.0}}, {1, -2, 0.5},
                  Eigen::Vector3d(1.0, 0.25, 9.0).asDiagonal());
}

TEST(Linear, ContextsHaveTheFullCovarianceOfTheConfig) {
  Eigen::Matrix3d sigma;
  sigma << 2.0, 0.8, -0.3, 0.8, 1.0, 0.1, -0.3, 0.1, 0.5;
  expect_contexts({.dimension = 3, .mean = {0, 0, 1}, .covariance = {2, 0.8, -0.3, 0.8, 1, 0.1, -0.3, 0.1, 0.5}},
                  {0, 0, 1}, sigma);
}

// The noise r − x·β of every action: its law, and none of it shared between actions.
void expect_noise(const LinearConfig& config, const std::vector<double>& sd) {
  const Linear problem(config, {.seed = 7});
  std::vector<std::vector<double>> noise(problem.actions());
  Round round;
  for (std::size_t t = 0; t < rounds; ++t) {
    problem.draw(t, round);
    for (std::size_t a = 0; a < noise.size(); ++a) noise[a].push_back(round.rewards[a] - round.mean_rewards[a]);
  }
  for (std::size_t a = 0; a < noise.size(); ++a) {
    EXPECT_NEAR(problem.noise_sd(a), sd[a], 1e-15);
    expect_normal_moments(noise[a], 0.0, sd[a]);
    if (a > 0) {
      EXPECT_NEAR(covariance_of(noise[a], noise[a - 1]), 0.0, 4.5 * sd[a] * sd[a - 1] / std::sqrt(rounds));
    }
  }
}

TEST(Linear, NoiseOfActionAHasStandardDeviation001A) { expect_noise({.actions = 4}, {0.01, 0.02, 0.03, 0.04}); }

TEST(Linear, NoiseAsVarianceIsTheRoot) {
  expect_noise({.actions = 3, .noise = {.unit = NoiseUnit::variance}}, {0.1, std::sqrt(0.02), std::sqrt(0.03)});
}

TEST(Linear, NoiseWithoutGrowthIsTheSameForAll) {
  expect_noise({.actions = 3, .noise = {.level = 0.5, .growth = NoiseGrowth::none}}, {0.5, 0.5, 0.5});
  // The particle ablation's σ² = 0.1.
  expect_noise({.actions = 2, .noise = {.unit = NoiseUnit::variance, .level = 0.1, .growth = NoiseGrowth::none}},
               {std::sqrt(0.1), std::sqrt(0.1)});
}

TEST(Linear, NoNoiseMakesRewardsTheirMeans) {
  const Linear problem({.noise = {.level = 0.0}}, {.seed = 8});
  Round round;
  problem.draw(0, round);
  EXPECT_EQ(round.rewards, round.mean_rewards);
}

TEST(Linear, RefusesBadShapesAndNumbers) {
  const auto refused = [](const LinearConfig& config, const std::string& word) {
    try {
      Linear(config, {});
      ADD_FAILURE() << "accepted a bad " << word;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::input);
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  refused({.dimension = 3, .mean = {1, 2}}, "mean");
  refused({.dimension = 3, .mean = {}}, "mean");
  refused({.dimension = 3, .covariance = {1, 2}}, "covariance");
  refused({.dimension = 3, .covariance = {}}, "covariance");
  refused({.dimension = 2, .covariance = {-1}}, "covariance");
  refused({.dimension = 2, .covariance = {1, 2, 2, 1}}, "covariance");      // indefinite
  refused({.dimension = 2, .covariance = {1, 0.5, 0.1, 1}}, "covariance");  // not symmetric
  refused({.dimension = 2, .covariance = {std::nan("")}}, "covariance");
  refused({.dimension = 0}, "dimension");
  refused({.actions = 0}, "actions");
  refused({.noise = {.level = -0.1}}, "noise_level");
}

}  // namespace
}  // namespace pits::test
