// Upper confidence bounds by hand and against a plain inverse; fixed probabilities.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "agent/play.h"
#include "chi_square.h"
#include "pits/agent/context_free/fixed.h"
#include "pits/agent/context_free/ucb1.h"
#include "pits/agent/linear/lin_ucb.h"

namespace pits::test {
namespace {

const std::vector<float> x(context_size, 0.5F);

void pay(Agent& agent, Action action, float reward) {
  const Feedback feedback{.x = x, .action = action, .reward = reward};
  agent.learn({&feedback, 1});
}

// Two actions, range 2. After rewards (1, 0) and (0.5): means 0.5 and 0.5, n = 2 and 1, t = 3.
TEST(Ucb1, ByHand) {
  Ucb1 agent({.range = 2.0, .exploration = {.initial_pulls = 0}}, {.context_size = context_size, .actions = 2});
  EXPECT_EQ(agent.choose({.x = x}).action, 0U);  // none was pulled: the first
  pay(agent, 0, 1.0F);
  EXPECT_EQ(agent.choose({.x = x}).action, 1U);  // never pulled
  pay(agent, 1, 0.5F);
  EXPECT_NEAR(agent.bound(0), 1.0 + 2.0 * 1.1774100226, 1e-9);  // √(2 ln 2) = 1.17741…
  EXPECT_EQ(agent.choose({.x = x}).action, 0U);
  pay(agent, 0, 0.0F);
  EXPECT_NEAR(agent.bound(0), 0.5 + 2.0 * 1.0481470740, 1e-9);  // √(ln 3)
  EXPECT_NEAR(agent.bound(1), 0.5 + 2.0 * 1.4823038073, 1e-9);  // √(2 ln 3)
  const Decision decision = agent.choose({.x = x, .want_propensity = true});
  EXPECT_EQ(decision.action, 1U);
  EXPECT_EQ(decision.propensity, 1.0F);
}

// A gap of 0.9: Theorem 1 of Auer et al. bounds the pulls of the worse action by 8 ln(n)/Δ² + 1 + π²/3 = 76.5 at
// n = 1000.
TEST(Ucb1, PullsTheWorseActionNoMoreThanItsTheoremSays) {
  Ucb1 agent({}, {.context_size = context_size, .actions = 2});
  int worse = 0;
  for (DecisionId t = 0; t < 1000; ++t) {
    const Action a = agent.choose({.x = x, .id = t}).action;
    worse += a == 0;
    pay(agent, a, a == 0 ? 0.05F : 0.95F);
  }
  EXPECT_LE(worse, 76);
  EXPECT_GE(worse, 2);
}

TEST(LinUcb, HasTheEstimateAndWidthOfThePlainInverse) {
  const LinUcbConfig config{.alpha = 0.7, .lambda = 0.5};
  LinUcb agent(config, small_setup());
  const std::vector<Event> events = random_events(80, 5);
  learn_all(agent, events);
  for (const Event& asked : random_events(20, 6)) {
    const Eigen::Vector4d row(asked.x[0], asked.x[1], asked.x[2], 1.0);
    std::vector<double> bounds;
    for (Action a = 0; a < action_count; ++a) {
      Eigen::Matrix4d A = 0.5 * Eigen::Matrix4d::Identity();
      Eigen::Vector4d b = Eigen::Vector4d::Zero();
      for (const Event& e : events) {
        if (e.action != a) continue;
        const Eigen::Vector4d seen(e.x[0], e.x[1], e.x[2], 1.0);
        A += seen * seen.transpose();
        b += double{e.reward} * seen;
      }
      const double estimate = row.dot(A.inverse() * b);
      const double width = std::sqrt(row.dot(A.inverse() * row));
      EXPECT_NEAR(agent.estimate(a, asked.x), estimate, 1e-10);
      EXPECT_NEAR(agent.width(a, asked.x), width, 1e-10);
      bounds.push_back(estimate + 0.7 * width);
    }
    const Decision decision = agent.choose({.x = asked.x, .want_propensity = true});
    EXPECT_EQ(decision.action, best_action(bounds, {}));
    EXPECT_EQ(decision.propensity, 1.0F);
  }
}

// λ = 1, one observation x = 1, r = 1 with intercept: A = [[2,1],[1,2]], θ = (1/3, 1/3), xᵀA⁻¹x = 2/3 at x = 1.
TEST(LinUcb, ByHand) {
  LinUcb agent({.alpha = 1.0, .lambda = 1.0, .exploration = {.initial_pulls = 0}}, {.context_size = 1, .actions = 2});
  const std::vector<float> one = {1.0F};
  const Feedback feedback{.x = one, .action = 0, .reward = 1.0F};
  EXPECT_NEAR(agent.width(0, one), std::sqrt(2.0), 1e-12);
  agent.learn({&feedback, 1});
  EXPECT_NEAR(agent.estimate(0, one), 2.0 / 3.0, 1e-12);
  EXPECT_NEAR(agent.width(0, one), std::sqrt(2.0 / 3.0), 1e-12);
  EXPECT_EQ(agent.choose({.x = one}).action, 0U);  // 0.667 + 0.816 against 0 + 1.414
}

TEST(Bounds, RefuseBadNumbers) {
  EXPECT_THROW(Ucb1({.range = 0.0}, small_setup()), Error);
  EXPECT_THROW(LinUcb({.alpha = -1.0}, small_setup()), Error);
  EXPECT_THROW(LinUcb({.lambda = 0.0}, small_setup()), Error);
}

std::vector<double> counts_of(const Fixed& agent, const std::vector<std::uint8_t>& mask) {
  std::vector<double> counts(action_count, 0.0);
  for (DecisionId id = 0; id < 20000; ++id) counts[agent.choose({.x = x, .actions = {mask}, .id = id}).action] += 1.0;
  return counts;
}

TEST(Fixed, PlaysItsProbabilitiesAmongTheAllowedActions) {
  const Fixed agent({.probabilities = {4.0, 0.0, 1.0, 3.0}}, small_setup());
  expect_frequencies(counts_of(agent, {}), {0.5, 0.0, 0.125, 0.375});
  expect_frequencies(counts_of(agent, {1, 1, 1, 0}), {0.8, 0.0, 0.2, 0.0});
  expect_frequencies(counts_of(agent, {0, 1, 0, 0}), {0.0, 1.0, 0.0, 0.0});
  const std::vector<std::uint8_t> mask = {0, 0, 1, 1};
  const Decision decision = agent.choose({.x = x, .actions = {mask}, .want_propensity = true});
  EXPECT_FLOAT_EQ(decision.propensity.value(), decision.action == 2 ? 0.25F : 0.75F);
}

TEST(Fixed, PlaysTheFirstActionThreeTimesInFourUnlessTold) {
  expect_frequencies(counts_of(Fixed({}, small_setup()), {}), {0.75, 0.25 / 3, 0.25 / 3, 0.25 / 3});
}

TEST(Fixed, RefusesProbabilitiesThatDoNotFit) {
  EXPECT_THROW(Fixed({.probabilities = {0.5, 0.5}}, small_setup()), Error);
  EXPECT_THROW(Fixed({.probabilities = {1.0, -0.5, 0.2, 0.3}}, small_setup()), Error);
  EXPECT_THROW(Fixed({.probabilities = {0.0, 0.0, 0.0, 0.0}}, small_setup()), Error);
}

}  // namespace
}  // namespace pits::test
