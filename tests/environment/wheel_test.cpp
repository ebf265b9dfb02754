#include "pits/environment/wheel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "environment/statistics.h"
#include "pits/core/random.h"

namespace pits::test {
namespace {

constexpr std::size_t rounds = 40000;

std::vector<Round> rounds_of(const WheelConfig& config, std::size_t n = rounds) {
  const Wheel wheel(config, {.seed = 9});
  std::vector<Round> drawn(n);
  for (std::size_t t = 0; t < n; ++t) wheel.draw(t, drawn[t]);
  return drawn;
}

double radius(const Round& round) { return std::hypot(double{round.context[0]}, double{round.context[1]}); }

// The quadrant's arm as docs/method.md lists it, arms counted from 0.
std::size_t arm_by_the_list(double x1, double x2) {
  if (x1 > 0 && x2 > 0) return 0;
  if (x1 > 0 && x2 <= 0) return 1;
  if (x1 <= 0 && x2 > 0) return 2;
  return 3;
}

// Uniform in the disc: the squared radius and the angle are uniform, and independent of each other.
TEST(Wheel, ContextsAreUniformInTheDisc) {
  std::vector<double> square;
  std::vector<double> turn;
  for (const Round& round : rounds_of({})) {
    square.push_back(radius(round) * radius(round));
    turn.push_back(0.5 + std::atan2(round.context[1], round.context[0]) / (2.0 * std::numbers::pi));
  }
  expect_uniform(square);
  expect_uniform(turn);
  EXPECT_NEAR(12.0 * covariance_of(square, turn), 0.0, 4.5 / std::sqrt(rounds));
}

TEST(Wheel, TheRimHasTheShareOneMinusDeltaSquared) {
  for (const double delta : {0.3, 0.5, 0.95}) {
    double on_rim = 0.0;
    for (const Round& round : rounds_of({.delta = delta})) on_rim += round.best_mean() == 50.0;
    expect_share(on_rim, rounds, 1.0 - delta * delta);
  }
}

// Each quadrant is met a quarter of the time, and on the rim its arm alone pays 50.
TEST(Wheel, TheQuadrantsArmPaysOnTheRimAndNoOther) {
  const double delta = 0.6;
  std::vector<double> met(4, 0.0);
  for (const Round& round : rounds_of({.delta = delta})) {
    std::vector<double> expected = {1.0, 1.0, 1.0, 1.0, 1.2};
    const std::size_t arm = arm_by_the_list(round.context[0], round.context[1]);
    met[arm] += 1.0;
    if (std::abs(radius(round) - delta) < 1e-6) continue;  // contexts are rounded to float
    if (radius(round) >= delta) expected[arm] = 50.0;
    ASSERT_EQ(round.mean_rewards, expected);
  }
  for (const double count : met) expect_share(count, rounds, 0.25);
}

TEST(Wheel, RewardsHaveTheMomentsOfTheirArm) {
  std::vector<double> inner;
  std::vector<double> centre;
  std::vector<double> rim;
  for (const Round& round : rounds_of({})) {
    for (std::size_t a = 0; a < 5; ++a) {
      const double mean = round.mean_rewards[a];
      (mean == 50.0 ? rim : a == 4 ? centre : inner).push_back(round.rewards[a]);
    }
  }
  expect_normal_moments(inner, 1.0, 0.05);
  expect_normal_moments(centre, 1.2, 0.05);
  expect_normal_moments(rim, 50.0, 0.01);
}

TEST(Wheel, NoiseIsNotSharedBetweenArms) {
  const std::vector<Round> drawn = rounds_of({.delta = 1.0});
  for (std::size_t a = 1; a < 5; ++a) {
    std::vector<double> left;
    std::vector<double> right;
    for (const Round& round : drawn) {
      left.push_back(round.rewards[a - 1]);
      right.push_back(round.rewards[a]);
    }
    EXPECT_NEAR(covariance_of(left, right), 0.0, 4.5 * 0.05 * 0.05 / std::sqrt(rounds));
  }
}

TEST(Wheel, DeltaZeroIsAllRimAndDeltaOneHasNone) {
  for (const Round& round : rounds_of({.delta = 0.0}, 2000)) EXPECT_EQ(round.best_mean(), 50.0);
  for (const Round& round : rounds_of({.delta = 1.0}, 2000)) {
    EXPECT_EQ(round.mean_rewards, (std::vector<double>{1.0, 1.0, 1.0, 1.0, 1.2}));
    EXPECT_EQ(round.best_mean(), 1.2);
  }
}

// One round from its random numbers: r² and the angle are the two uniforms of the context's stream, the rewards' noise
// five normals of the rewards' stream in order of the arms.
TEST(Wheel, OneRoundByHand) {
  const Wheel wheel({.delta = 0.2}, {.seed = 10, .realization = 3});
  Round round;
  wheel.draw(7, round);
  Stream contexts({.seed = 10, .realization = 3, .purpose = Purpose::environment_context, .step = 7});
  const double r = std::sqrt(contexts.uniform());
  const double angle = 2.0 * std::numbers::pi * contexts.uniform();
  EXPECT_FLOAT_EQ(round.context[0], static_cast<float>(r * std::cos(angle)));
  EXPECT_FLOAT_EQ(round.context[1], static_cast<float>(r * std::sin(angle)));
  ASSERT_GE(r, 0.2);
  Stream noise({.seed = 10, .realization = 3, .purpose = Purpose::environment_reward, .step = 7});
  const std::size_t arm = arm_by_the_list(round.context[0], round.context[1]);
  double sum = 0.0;
  for (std::size_t a = 0; a < 5; ++a) {
    const double z = noise.normal();
    const double expected = a == arm ? 50.0 + 0.01 * z : (a == 4 ? 1.2 : 1.0) + 0.05 * z;
    EXPECT_DOUBLE_EQ(round.rewards[a], expected);
    sum += expected;
  }
  EXPECT_EQ(round.best_mean(), 50.0);
  EXPECT_NEAR(round.even(round.rewards), sum / 5.0, 1e-12);
}

TEST(Wheel, RefusesBadNumbers) {
  EXPECT_THROW(Wheel({.delta = -0.1}, {}), Error);
  EXPECT_THROW(Wheel({.delta = 1.1}, {}), Error);
  EXPECT_THROW(Wheel({.inner_sd = -1.0}, {}), Error);
  EXPECT_THROW(Wheel({.rim_mean = std::nan("")}, {}), Error);
}

}  // namespace
}  // namespace pits::test
