// What the default agent says of the rewards to those who do not decide by it: draws, means, and one particle's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pits/agent/presets.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 12, K = 3;

std::vector<float> context(std::uint32_t t) {
  Stream stream({.seed = 1, .purpose = Purpose::environment_context, .step = t});
  std::vector<float> x(d);
  stream.fill_normal(x);
  return x;
}

// Lines with so much noise that neither networks nor the linear model have all of the weight.
PiTs taught() {
  PiTsConfig c = pi_ts_preset("pi-ts", "auto");
  c.posterior.model.hidden = {8};
  PiTs agent(c, {.context_size = d, .actions = K, .seed = 8});
  for (std::uint32_t t = 0; t < 240; ++t) {
    const std::vector<float> x = context(t);
    Stream noise({.seed = 2, .purpose = Purpose::environment_reward, .step = t});
    const Action a = t % K;
    const Feedback event{.x = x, .action = a, .reward = 7.0F + x[a] + 2.0F * static_cast<float>(noise.normal())};
    agent.learn({&event, 1});
  }
  return agent;
}

// All that the agent holds at x in the rewards' own units, (rows,K).
Matrix<double> rows_at(const PiTs& agent, ContextView x) {
  const Matrix<float>& values = agent.posterior().all_values(x);
  Matrix<double> out(values.rows(), K);
  for (std::size_t row = 0; row < out.rows(); ++row) {
    for (std::size_t a = 0; a < K; ++a) out(row, a) = agent.posterior().standardiser().raw_reward(values(row, a));
  }
  return out;
}

std::size_t find_row(const Matrix<double>& rows, const std::vector<double>& rewards) {
  std::size_t row = 0;
  while (row < rows.rows() &&
         !std::ranges::equal(rows.row(row), rewards, [](double a, double b) { return std::abs(a - b) < 1e-4; })) {
    ++row;
  }
  return row;
}

// After any number of draws each model has had its share. The golden section's shares of an interval are never off by
// more than 3 in so few draws.
TEST(MixtureDraws, GoOverAllModelsByTheirWeights) {
  const PiTs agent = taught();
  const std::vector<float> x = context(1000);
  const Matrix<double> rows = rows_at(agent, x);
  const std::size_t M = agent.posterior().particles().rows(), S = rows.rows() / (M + 1);
  const double linear = agent.posterior().mixture()->linear_weight();
  ASSERT_GT(linear, 0.05);
  ASSERT_LT(linear, 0.95);
  std::vector<double> count(M + 1), drawn(K);
  for (std::uint32_t n = 0; n < 300; ++n) {
    ASSERT_TRUE(agent.draw_rewards(x, n, drawn));
    const std::size_t row = find_row(rows, drawn);
    ASSERT_LT(row, rows.rows());
    count[row / S] += 1.0;
    for (std::size_t i = 0; i <= M; ++i) {
      const double weight = i == M ? linear : (1.0 - linear) / static_cast<double>(M);
      EXPECT_NEAR(count[i], weight * (n + 1), 3.0) << "model " << i << " after draw " << n;
    }
  }
}

TEST(MixtureDraws, AParticleHasTheFirstDrawOfItsOwnNetwork) {
  const PiTs agent = taught();
  const std::vector<float> x = context(1001);
  const Matrix<double> rows = rows_at(agent, x);
  const std::size_t M = agent.posterior().particles().rows(), S = rows.rows() / (M + 1);
  std::vector<double> own(K);
  for (std::uint32_t i = 0; i < M; ++i) {
    agent.particle_rewards(i, x, own);
    for (std::size_t a = 0; a < K; ++a) EXPECT_NEAR(own[a], rows(i * S, a), 1e-4) << i << a;
  }
}

// Rewards are 7 + x_a. Draws are the better half of what is believed, and the mean is not: over many contexts its error
// is 0 up to what 80 rewards of sd 2 know of an action's level, and below that of the draws.
TEST(MixtureDraws, TheMeanIsNotOptimistic) {
  const PiTs agent = taught();
  double of_mean = 0.0, of_draws = 0.0;
  constexpr std::uint32_t contexts = 200;
  for (std::uint32_t t = 0; t < contexts; ++t) {
    const std::vector<float> x = context(2000 + t);
    std::vector<double> mean(K), drawn(K);
    ASSERT_TRUE(agent.mean_rewards(x, mean));
    for (std::size_t a = 0; a < K; ++a) of_mean += (mean[a] - 7.0 - x[a]) / (contexts * K);
    for (std::uint32_t n = 0; n < 20; ++n) {
      ASSERT_TRUE(agent.draw_rewards(x, n, drawn));
      for (std::size_t a = 0; a < K; ++a) of_draws += (drawn[a] - 7.0 - x[a]) / (20 * contexts * K);
    }
  }
  EXPECT_LT(std::abs(of_mean), 4.0 * 2.0 / std::sqrt(240.0));
  EXPECT_GT(of_draws, of_mean);
}

// The same agent without a mixture holds draws only.
TEST(MixtureDraws, OthersKnowNoMean) {
  const PiTs agent(pi_ts_preset("pi-ts", "exact"), {.context_size = d, .actions = K});
  std::vector<double> mean(K);
  EXPECT_FALSE(agent.mean_rewards(context(0), mean));
}

}  // namespace
}  // namespace pits::test
