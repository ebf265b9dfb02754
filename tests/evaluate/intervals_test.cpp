// Intervals against the vectors of an independent implementation, published values, and simulation.
#include <gtest/gtest.h>

#include <cmath>

#include "pits/core/random.h"
#include "pits/evaluate/intervals/confidence_sequence.h"
#include "pits/evaluate/intervals/interval.h"

namespace pits {
namespace {

using std::vector;

// The twenty rounds (a, r), repeated; p = (.5 .3 .2), π = (.2 .3 .5).
struct Repeated {
  explicit Repeated(std::size_t times) {
    const vector<std::size_t> a = {0, 1, 0, 2, 0, 1, 0, 0, 2, 1, 0, 1, 0, 2, 0, 1, 0, 2, 0, 1};
    const vector<double> r = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1};
    const vector<double> w = {.4, 1.0, 2.5};
    for (std::size_t k = 0; k < times; ++k) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        terms.weight.push_back(w[a[i]]);
        reward.push_back(r[i]);
      }
    }
    terms.probability = terms.weight;
    terms.reward = reward;
  }
  vector<double> reward;
  PolicyTerms terms;
};

struct Expected {
  std::size_t times;
  double ips_error, snips_error, bernstein, low, high;
};

TEST(Intervals, AgreeWithAnIndependentImplementation) {
  const vector<Expected> all = {{1, .201217, .135807, 1.941044, 0.0, 1.0},
                                {10, .062175, .042946, .312514, .350301, .744101},
                                {100, .019617, .013581, .070862, .509225, .635101},
                                {1000, .006202, .004295, .019639, .559710, .601628}};
  for (const Expected& e : all) {
    const Repeated log(e.times);
    const RoundRatios ips = ratios_of(EstimatorKind::ips, log.terms),
                      snips = ratios_of(EstimatorKind::snips, log.terms);
    EXPECT_NEAR(ips.value(), .585, 1e-12);
    EXPECT_NEAR(snips.value(), .585, 1e-12);
    EXPECT_NEAR(standard_error(ips.influence(), false), e.ips_error, 5e-7);
    EXPECT_NEAR(standard_error(snips.influence(), true), e.snips_error, 5e-7);
    const Interval bound = bernstein(ips.numerator, 2.5, 0.95);
    EXPECT_NEAR(0.5 * bound.width(), e.bernstein, 5e-7);
    ValueSequence sequence({0.0, 1.0});
    for (std::size_t i = 0; i < log.reward.size(); ++i) sequence.add(log.terms.weight[i], log.reward[i]);
    EXPECT_NEAR(sequence.interval(0.95).low, e.low, 1e-6) << e.times;
    EXPECT_NEAR(sequence.interval(0.95).high, e.high, 1e-6) << e.times;
  }
}

TEST(Intervals, WealthOfTheMixture) {
  EXPECT_NEAR(log_wealth(1, 2, 1), -.2790050614913721, 1e-13);
  EXPECT_NEAR(log_wealth(3, 1.5, 1), .9287408206168573, 1e-13);
}

// γ(1, x) = 1 − e^−x, γ(2, x) = 1 − (1 + x) e^−x, γ(½, x) = √π erf(√x); P(a, a) → ½ + 1/(3√(2πa)) (DLMF 8.11.12).
TEST(Intervals, LowerIncompleteGamma) {
  for (const double x : {1e-8, 0.3, 1.0, 1.9, 2.1, 7.0, 40.0}) {
    EXPECT_NEAR(log_lower_gamma(1.0, x), std::log(-std::expm1(-x)), 1e-13) << x;
    EXPECT_NEAR(log_lower_gamma(0.5, x), std::log(std::sqrt(M_PI) * std::erf(std::sqrt(x))), 1e-13) << x;
    if (x < 0.01) continue;  // the closed form cancels there
    EXPECT_NEAR(log_lower_gamma(2.0, x), std::log(1.0 - (1.0 + x) * std::exp(-x)), 1e-12) << x;
  }
  const double a = 1e6;
  EXPECT_NEAR(log_lower_gamma(a, a) - std::lgamma(a), std::log(0.5 + 1.0 / (3.0 * std::sqrt(2.0 * M_PI * a))), 1e-7);
  EXPECT_NEAR(log_lower_gamma(a, a + 1.0), log_lower_gamma(a, a + 1.0 - 1e-6), 1e-6);  // where the method changes
}

TEST(Intervals, NormalQuantile) {
  EXPECT_NEAR(normal_quantile(0.95), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(0.99), 2.575829303548901, 1e-12);
}

TEST(Intervals, DifferenceOfAPolicyToItselfHoldsZeroAndIsMirrored) {
  const Repeated log(50);
  DifferenceSequence same({0.0, 1.0}), forward({0.0, 1.0}), backward({0.0, 1.0});
  for (std::size_t i = 0; i < log.reward.size(); ++i) {
    same.add(log.terms.weight[i], log.terms.weight[i], log.reward[i]);
    forward.add(log.terms.weight[i], 1.0, log.reward[i]);
    backward.add(1.0, log.terms.weight[i], log.reward[i]);
  }
  EXPECT_LT(same.interval(0.95).low, 0.0);
  EXPECT_GT(same.interval(0.95).high, 0.0);
  EXPECT_NEAR(forward.interval(0.95).low, -backward.interval(0.95).high, 1e-12);
  EXPECT_NEAR(forward.interval(0.95).high, -backward.interval(0.95).low, 1e-12);
}

// Where the range moves, the interval moves with it.
TEST(Intervals, TheSequenceFollowsTheUnitsOfTheRewards) {
  const Repeated log(20);
  ValueSequence plain({0.0, 1.0}), moved({-5.0, 5.0});
  for (std::size_t i = 0; i < log.reward.size(); ++i) {
    plain.add(log.terms.weight[i], log.reward[i]);
    moved.add(log.terms.weight[i], 10.0 * log.reward[i] - 5.0);
  }
  EXPECT_NEAR(moved.interval(0.9).low, 10.0 * plain.interval(0.9).low - 5.0, 1e-9);
  EXPECT_NEAR(moved.interval(0.9).high, 10.0 * plain.interval(0.9).high - 5.0, 1e-9);
}

TEST(Intervals, BootstrapSpreadsLikeTheStandardError) {
  const Repeated log(20);
  const vector<RoundRatios> lists = {ratios_of(EstimatorKind::ips, log.terms),
                                     ratios_of(EstimatorKind::snips, log.terms)};
  const int draws = 2000;
  const auto values = resampled(lists, draws, 5);
  EXPECT_EQ(values, resampled(lists, draws, 5));
  for (std::size_t j = 0; j < 2; ++j) {
    double mean = 0.0, squares = 0.0;
    for (const double v : values[j]) mean += v / draws;
    for (const double v : values[j]) squares += (v - mean) * (v - mean) / (draws - 1);
    const double error = standard_error(lists[j].influence(), j == 1);
    EXPECT_NEAR(std::sqrt(squares), error, 5.0 * error / std::sqrt(2.0 * draws));
    const Interval interval = percentiles(values[j], 0.95);
    EXPECT_NEAR(interval.low, .585 - 1.96 * error, 0.2 * error);
    EXPECT_NEAR(interval.high, .585 + 1.96 * error, 0.2 * error);
  }
}

TEST(Intervals, PercentilesByHand) {
  const Interval all = percentiles({4.0, 1.0, 3.0, 2.0, 5.0}, 0.5);
  EXPECT_DOUBLE_EQ(all.low, 2.0);
  EXPECT_DOUBLE_EQ(all.high, 4.0);
}

// 300 logs of coin flips: with probability at most 5 % some of 20 looks misses. The bound is 3 binomial standard
// errors.
TEST(Intervals, TheSequenceCoversAtEveryLook) {
  const int logs = 300;
  int missed = 0;
  for (int k = 0; k < logs; ++k) {
    Stream stream({.seed = 11, .step = static_cast<std::uint32_t>(k)});
    ValueSequence sequence({0.0, 1.0});
    bool miss = false;
    for (int t = 1; t <= 1000; ++t) {
      const bool first = stream.uniform() < 0.1;  // π plays it always
      sequence.add(first ? 10.0 : 0.0, stream.uniform() < 0.3 ? 1.0 : 0.0);
      const Interval now = t % 50 == 0 ? sequence.interval(0.95) : Interval{0.0, 1.0};
      miss = miss || now.low > 0.3 || now.high < 0.3;
    }
    missed += miss ? 1 : 0;
  }
  EXPECT_LE(missed, logs * 0.05 + 3.0 * std::sqrt(logs * 0.05 * 0.95));
}

}  // namespace
}  // namespace pits
