#include "pits/agent/network/vi_ts.h"

#include <gtest/gtest.h>

#include "agent/play.h"

namespace pits::test {
namespace {

// The share of decisions for action 1 is P(N(m₁, v₁) > N(m₀, v₀)) with the linear posterior's own moments, within four
// standard errors.
TEST(ViTs, PlaysEachActionAsOftenAsItsDrawIsBest) {
  ViTs agent(
      {.posterior = {.hidden = {}, .init_mean_sd = 0.3, .init_log_sd = -1.0}, .exploration = {.initial_pulls = 0}},
      {.context_size = 3, .actions = 2, .seed = 5});
  const std::vector<float> x = {0.4F, -1.0F, 0.7F};
  const GaussianWeights q = agent.posterior().weights();
  double mean = q.mean[7] - q.mean[6], variance = 0.0;
  for (std::size_t j = 0; j < 3; ++j) {
    mean += (q.mean[3 + j] - q.mean[j]) * x[j];
    variance += (q.variance[3 + j] + q.variance[j]) * x[j] * x[j];
  }
  const double p = 0.5 * std::erfc(-mean / std::sqrt(2.0 * variance));
  ASSERT_GT(p, 0.05);
  ASSERT_LT(p, 0.95);
  constexpr int n = 20000;
  int ones = 0;
  for (DecisionId id = 0; id < n; ++id) ones += agent.choose({.x = x, .id = id}).action == 1;
  EXPECT_NEAR(static_cast<double>(ones) / n, p, 4.0 * std::sqrt(p * (1.0 - p) / n));
}

TEST(ViTs, LearnsWhichActionPays) {
  ViTs agent({.posterior = {.hidden = {20}, .optimizer = {.step = 0.01}, .batch = 64}},
             {.context_size = 2, .actions = 2, .seed = 3});
  Stream stream({.seed = 8, .purpose = Purpose::target_sample});
  const auto round = [&](DecisionId t) {  // action 0 pays where x₀ > 0, action 1 where not
    const std::vector<float> x = {static_cast<float>(stream.normal()), static_cast<float>(stream.normal())};
    const Action a = agent.choose({.x = x, .id = t}).action;
    const float reward = (x[0] > 0.0F) == (a == 0) ? 1.0F : 0.0F;
    const Feedback event{.x = x, .action = a, .reward = reward};
    agent.learn({&event, 1});
    return reward;
  };
  for (DecisionId t = 0; t < 400; ++t) round(t);
  float won = 0.0F;
  for (DecisionId t = 400; t < 500; ++t) won += round(t);
  // Without learning the rewards of 100 rounds are binomial, mean 50 and standard deviation 5: 4.5 of them.
  EXPECT_GT(won, 50.0F + 4.5F * 5.0F);
}

}  // namespace
}  // namespace pits::test
