// How likely each of several independent values is the largest: against closed forms, symmetry and simulation.
#include "pits/agent/best_probabilities.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "agent/play.h"
#include "pits/agent/linear/lin_ts.h"

namespace pits::test {
namespace {

std::vector<double> best_of(const std::vector<ValueLaw>& laws, const ActionSet& actions = {}) {
  std::vector<double> p(laws.size());
  EXPECT_TRUE(best_probabilities(laws, actions, p));
  EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1.0, 1e-12);
  return p;
}

double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// P(A > B) of two normal values.
RC_GTEST_PROP(BestProbabilities, OfTwoNormalValuesAreTheClosedForm, (std::uint32_t seed)) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const ValueLaw a{.mean = normal(random), .scale = std::exp(4.0 * normal(random))};
  const ValueLaw b{.mean = normal(random), .scale = std::exp(4.0 * normal(random))};
  const double expected = normal_below((a.mean - b.mean) / std::hypot(a.scale, b.scale));
  const std::vector<double> p = best_of({a, b});
  RC_ASSERT(std::abs(p[0] - expected) < best_tolerance);
}

// A constant c beside a value: P(value > c). Student with 1, 2 and 4 degrees have closed distribution functions.
TEST(BestProbabilities, OfAConstantAndAValueAreTheDistributionFunction) {
  for (const double c : {-30.0, -2.5, -0.3, 0.0, 1.0, 7.0}) {
    const double t1 = 0.5 + std::atan(c) / std::numbers::pi;
    const double t2 = 0.5 + c / (2.0 * std::sqrt(2.0 + c * c));
    const double w = c / std::sqrt(1.0 + c * c / 4.0);
    const double t4 = 0.5 + 3.0 / 8.0 * w * (1.0 - w * w / 12.0);
    for (const auto& [freedom, below] : {std::pair{0.0, normal_below(c)}, {1.0, t1}, {2.0, t2}, {4.0, t4}}) {
      const std::vector<double> p = best_of({{.mean = c}, {.mean = 0.0, .scale = 1.0, .freedom = freedom}});
      EXPECT_NEAR(p[0], below, best_tolerance) << c << " " << freedom;
      const std::vector<double> far =
          best_of({{.mean = 5.0 + 3.0 * c}, {.mean = 5.0, .scale = 3.0, .freedom = freedom}});
      EXPECT_NEAR(far[0], below, best_tolerance) << c << " " << freedom;
    }
  }
}

TEST(BestProbabilities, OfEqualLawsAreEven) {
  for (const std::size_t K : {1U, 2U, 10U, 300U}) {
    for (const double freedom : {0.0, 0.5, 3.0, 12.7, 5000.0}) {
      const std::vector<ValueLaw> laws(K, {.mean = 2.0, .scale = 0.1, .freedom = freedom});
      for (const double p : best_of(laws)) EXPECT_NEAR(p, 1.0 / static_cast<double>(K), best_tolerance);
    }
  }
}

TEST(BestProbabilities, OfConstantsGoToTheFirstOfTheLargest) {
  EXPECT_EQ(best_of({{.mean = 1.0}, {.mean = 3.0}, {.mean = 3.0}}), (std::vector{0.0, 1.0, 0.0}));
  const std::vector<std::uint8_t> mask = {1, 0, 1};
  EXPECT_EQ(best_of({{.mean = 1.0}, {.mean = 3.0}, {.mean = 3.0}}, {.allowed = mask}), (std::vector{0.0, 0.0, 1.0}));
  EXPECT_EQ(best_of({{.mean = -50.0}, {.mean = 0.0, .scale = 1.0}}), (std::vector{0.0, 1.0}));
  EXPECT_EQ(best_of({{.mean = 50.0}, {.mean = 0.0, .scale = 1.0}}), (std::vector{1.0, 0.0}));
}

TEST(BestProbabilities, AreRefusedWhereThereAreNone) {
  std::vector<double> p(2);
  EXPECT_FALSE(best_probabilities(std::vector<ValueLaw>{{.mean = NAN, .scale = 1.0}, {}}, {}, p));
  EXPECT_FALSE(best_probabilities(std::vector<ValueLaw>{{.scale = INFINITY}, {}}, {}, p));
  EXPECT_FALSE(best_probabilities(std::vector<ValueLaw>{{.scale = 1.0, .freedom = 0.01}, {}}, {}, p));
}

// Shares of simulated draws, within five standard errors. Masked actions do not matter, nor does a common shift.
RC_GTEST_PROP(BestProbabilities, AreTheSharesOfSimulatedDraws, (std::uint32_t seed)) {
  constexpr int draws = 20'000;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const std::size_t K = 2 + seed % 9;
  std::vector<ValueLaw> laws(K);
  std::vector<std::uint8_t> mask(K, 1);
  for (std::size_t a = 0; a < K; ++a) {
    const double freedom = random() % 2 == 0 ? 0.0 : 0.5 + static_cast<double>(random() % 40);
    laws[a] = {.mean = normal(random), .scale = std::exp(1.5 * normal(random)), .freedom = freedom};
    if (random() % 10 == 0) laws[a].scale = 0.0;
    if (a > 0) mask[a] = random() % 4 == 0 ? 0 : 1;
  }
  const std::vector<double> p = best_of(laws, {.allowed = mask});
  std::vector<double> count(K);
  for (int i = 0; i < draws; ++i) {
    std::vector<double> values(K);
    for (std::size_t a = 0; a < K; ++a) {
      double t = normal(random);
      if (laws[a].freedom > 0.0)
        t /= std::sqrt(std::chi_squared_distribution<>(laws[a].freedom)(random) / laws[a].freedom);
      values[a] = laws[a].mean + laws[a].scale * t;
    }
    count[best_action(values, {.allowed = mask})] += 1.0;
  }
  for (std::size_t a = 0; a < K; ++a) {
    const double error = std::sqrt(std::max(p[a] * (1.0 - p[a]), 1.0 / draws) / draws);
    RC_ASSERT(std::abs(count[a] / draws - p[a]) < 5.0 * error);
    if (mask[a] == 0) RC_ASSERT(p[a] == 0.0);
  }
  std::vector<ValueLaw> shifted = laws;
  for (ValueLaw& law : shifted) law.mean += 1000.0;
  const std::vector<double> same = best_of(shifted, {.allowed = mask});
  for (std::size_t a = 0; a < K; ++a) RC_ASSERT(std::abs(same[a] - p[a]) < best_tolerance);
}

// One simulation of many draws: 2 million, so that 5 standard errors are below 0.002.
TEST(BestProbabilities, OfTenActionsAreThoseOfManyDraws) {
  constexpr int draws = 2'000'000;
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  std::vector<ValueLaw> laws(10);
  for (ValueLaw& law : laws) law = {.mean = 0.3 * normal(random), .scale = std::exp(0.5 * normal(random))};
  const std::vector<double> p = best_of(laws);
  std::vector<double> count(laws.size()), values(laws.size());
  for (int i = 0; i < draws; ++i) {
    for (std::size_t a = 0; a < laws.size(); ++a) values[a] = laws[a].mean + laws[a].scale * normal(random);
    count[best_action(values, {})] += 1.0;
  }
  for (std::size_t a = 0; a < laws.size(); ++a) {
    EXPECT_NEAR(count[a] / draws, p[a], 5.0 * std::sqrt(p[a] * (1.0 - p[a]) / draws));
  }
}

// The sum of trapezia on a fine grid, for laws of very different widths.
TEST(BestProbabilities, AreThePlainIntegral) {
  const std::vector<ValueLaw> laws = {{.mean = 0.0, .scale = 1.0},
                                      {.mean = 0.4, .scale = 0.01},
                                      {.mean = 0.5, .scale = 0.2},
                                      {.mean = -1.0, .scale = 3.0},
                                      {.mean = 0.41, .scale = 0.003}};
  const std::vector<double> p = best_of(laws);
  constexpr double h = 1e-4;
  std::vector<double> sum(laws.size());
  for (double v = -25.0; v < 25.0; v += h) {
    for (std::size_t a = 0; a < laws.size(); ++a) {
      const double t = (v - laws[a].mean) / laws[a].scale;
      double f = std::exp(-0.5 * t * t) / (laws[a].scale * std::sqrt(2.0 * std::numbers::pi));
      if (f < 1e-30) continue;
      for (std::size_t b = 0; b < laws.size(); ++b) {
        if (b != a) f *= normal_below((v - laws[b].mean) / laws[b].scale);
      }
      sum[a] += h * f;
    }
  }
  for (std::size_t a = 0; a < laws.size(); ++a) EXPECT_NEAR(p[a], sum[a], best_tolerance);
}

// Of a Student or normal value.
double density(const ValueLaw& law, double v) {
  const double t = (v - law.mean) / law.scale, n = law.freedom;
  if (n == 0.0) return std::exp(-0.5 * t * t) / (law.scale * std::sqrt(2.0 * std::numbers::pi));
  const double peak = std::exp(std::lgamma(0.5 * (n + 1.0)) - std::lgamma(0.5 * n)) / std::sqrt(n * std::numbers::pi);
  return peak / law.scale * std::pow(1.0 + t * t / n, -0.5 * (n + 1.0));
}
// The sum of trapezia over w where the values below −|c| are −|c| − exp(w).
TEST(BestProbabilities, OfLongTailsAreThePlainIntegral) {
  constexpr double h = 0.01;
  for (const double freedom : {0.25, 0.3, 0.5, 0.8, 1.3}) {
    const ValueLaw law{.mean = 0.0, .scale = 1.0, .freedom = freedom};
    for (const double c : {-7.0, -1.0, -0.2, 0.0, 0.1, 0.6, 3.0, 40.0}) {
      double expected = 0.0;
      for (double w = -40.0; w < 100.0; w += h) expected += h * std::exp(w) * density(law, -std::abs(c) - std::exp(w));
      if (c > 0.0) expected = 1.0 - expected;
      EXPECT_NEAR(best_of({{.mean = c}, law})[0], expected, best_tolerance) << freedom << " " << c;
    }
  }
}

// The distribution function.
double below(const ValueLaw& law, double v) {
  const double t = (v - law.mean) / law.scale, w = t / std::sqrt(1.0 + t * t / 4.0);  // 1, 2 or 4 degrees of freedom
  if (law.freedom == 0.0) return normal_below(t);
  if (law.freedom == 1.0) return 0.5 + std::atan(t) / std::numbers::pi;
  if (law.freedom == 2.0) return 0.5 + t / (2.0 * std::sqrt(2.0 + t * t));
  return 0.5 + 3.0 / 8.0 * w * (1.0 - w * w / 12.0);
}

// The sum of trapezia over w where v = mean + scale·sinh(w), which reaches far into the tails.
RC_GTEST_PROP(BestProbabilities, OfStudentValuesAreThePlainIntegral, (std::uint32_t seed)) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<ValueLaw> laws(2 + seed % 5);
  for (ValueLaw& law : laws) {
    const double freedoms[] = {0.0, 1.0, 2.0, 4.0};
    law = {.mean = normal(random), .scale = std::exp(0.5 * normal(random)), .freedom = freedoms[random() % 4]};
  }
  const std::vector<double> p = best_of(laws);
  constexpr double h = 0.004;
  for (std::size_t a = 0; a < laws.size(); ++a) {
    double sum = 0.0;
    for (double w = -25.0; w < 25.0; w += h) {
      const double v = laws[a].mean + laws[a].scale * std::sinh(w);
      double f = h * laws[a].scale * std::cosh(w) * density(laws[a], v);
      for (std::size_t b = 0; b < laws.size(); ++b) f *= b == a ? 1.0 : below(laws[b], v);
      sum += f;
    }
    RC_ASSERT(std::abs(p[a] - sum) < best_tolerance);
  }
}

// The same of many laws, whose product is steeper than each of them.
TEST(BestProbabilities, OfManyNormalValuesAreThePlainIntegral) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (const double spread : {0.05, 0.5, 1.5}) {
    std::vector<ValueLaw> laws(300);
    for (ValueLaw& law : laws) law = {.mean = spread * normal(random), .scale = 1.0};
    const std::vector<double> p = best_of(laws);
    std::vector<double> sum(laws.size());
    constexpr double h = 0.01;
    for (double v = -3.0; v < 16.0; v += h) {
      double product = h;
      for (const ValueLaw& law : laws) product *= below(law, v);
      for (std::size_t a = 0; a < laws.size(); ++a) {
        if (product > 0.0) sum[a] += product / below(laws[a], v) * density(laws[a], v);
      }
    }
    for (std::size_t a = 0; a < laws.size(); ++a) EXPECT_NEAR(p[a], sum[a], best_tolerance) << spread;
  }
}

// The law of a regression is that of its own draws: the agent's decisions have these shares.
TEST(BestProbabilities, OfLinTsAreTheSharesOfItsDecisions) {
  LinTs agent({}, small_setup(3));
  learn_all(agent, random_events(40, 5));
  const std::vector<Event> asked = random_events(1, 7);
  std::vector<float> p(action_count);
  EXPECT_EQ(agent.propensities({.x = asked[0].x}, 0, p), best_tolerance);  // needs no draws
  constexpr int decisions = 100'000;
  std::vector<double> count(action_count);
  for (DecisionId id = 0; id < decisions; ++id) count[agent.choose({.x = asked[0].x, .id = id}).action] += 1.0;
  for (std::size_t a = 0; a < action_count; ++a) {
    EXPECT_NEAR(count[a] / decisions, p[a], 5.0 * std::sqrt(std::max(p[a] * (1.0 - p[a]), 1e-5) / decisions));
  }
}

}  // namespace
}  // namespace pits::test
