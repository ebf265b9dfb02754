#include "pits/experiment/diagnostics/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "chi_square.h"
#include "pits/core/random.h"

namespace pits::test {
namespace {

double phi(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

constexpr std::size_t n = 20000;

// The histogram of n rewards drawn by `draw`, which are predicted by the mixture.
template <class Draw>
PitHistogram histogram(const std::vector<double>& mean, const std::vector<double>& sd, const Draw& draw) {
  Stream stream({.seed = 12, .purpose = Purpose::target_sample});
  PitHistogram h;
  for (std::size_t i = 0; i < n; ++i) h.add(mixture_pit(draw(stream), mean, sd));
  return h;
}

void expect_uniform(const PitHistogram& h) {
  std::vector<double> counts;
  for (const double share : h.shares()) counts.push_back(std::round(share * n));
  expect_frequencies(counts, std::vector<double>(PitHistogram::bins, 1.0 / PitHistogram::bins));
}

TEST(Calibration, IsUniformWhereTheNormalIsRight) {
  expect_uniform(histogram({3.0}, {0.5}, [](Stream& s) { return 3.0 + 0.5 * s.normal(); }));
}

TEST(Calibration, IsUniformWhereTheMixtureIsRight) {
  const std::vector<double> mean = {-1.0, 0.0, 4.0}, sd = {0.3, 1.0, 0.1};
  expect_uniform(histogram(mean, sd, [&](Stream& s) {
    const std::uint32_t i = s.index(3);
    return mean[i] + sd[i] * s.normal();
  }));
}

// Predictions half as wide as the rewards: the central interval of probability q of N(0, ¼) has Φ-mass
// 2Φ(z_q/2) − 1 under N(0, 1).
TEST(Calibration, CoversLessWhereItIsTooSure) {
  const auto shares = histogram({0.0}, {0.5}, [](Stream& s) { return s.normal(); }).shares();
  for (const auto& [level, z] : {std::pair{0.5, 0.6744897501960817}, {0.9, 1.6448536269514722}}) {
    const double expected = 2.0 * phi(0.5 * z) - 1.0;
    EXPECT_NEAR(coverage(shares, level), expected, 4.5 * std::sqrt(expected * (1.0 - expected) / n));
  }
}

TEST(Calibration, OfOneRewardByHand) {
  const Pit pit = mixture_pit(1.0, std::vector{0.0, 2.0, 1.0}, std::vector{1.0, 1.0, 7.0});
  EXPECT_NEAR(pit.low, 0.5, 1e-12);  // (Φ(1) + Φ(−1) + ½)/3
  EXPECT_EQ(pit.low, pit.high);
  EXPECT_NEAR(mixture_pit(2.0, std::vector{1.0}, std::vector{0.5}).high, phi(2.0), 1e-12);
}

TEST(Calibration, ACoinJumpsAtItsSides) {
  const auto expect_pit = [](const Pit& pit, double low, double high) {
    EXPECT_DOUBLE_EQ(pit.low, low);
    EXPECT_DOUBLE_EQ(pit.high, high);
  };
  expect_pit(coin_pit(0.0, 0.3), 0.0, 0.7);
  expect_pit(coin_pit(1.0, 0.3), 0.7, 1.0);
  expect_pit(coin_pit(0.5, 0.3), 0.7, 0.7);
}

// A coin of 0.3 that shows 1 in three of ten throws is exactly calibrated.
TEST(Calibration, ACoinThatKeepsItsShareIsExactlyUniform) {
  PitHistogram h;
  for (int i = 0; i < 10; ++i) h.add(coin_pit(i < 3 ? 1.0 : 0.0, 0.3));
  for (const double share : h.shares()) EXPECT_NEAR(share, 1.0 / PitHistogram::bins, 1e-12);
  EXPECT_NEAR(coverage(h.shares(), 0.5), 0.5, 1e-12);
  EXPECT_NEAR(coverage(h.shares(), 0.9), 0.9, 1e-12);
}

TEST(Calibration, SharesAddUpToOneAlsoAtTheEdges) {
  PitHistogram h;
  for (const double p : {0.0, 0.05, 0.5, 1.0}) h.add({.low = p, .high = p});
  h.add({.low = 0.0, .high = 1.0});
  const auto shares = h.shares();
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0, 1e-12);
  EXPECT_EQ(covered({.low = 0.25, .high = 0.25}, 0.5), 1.0);
  EXPECT_EQ(covered({.low = 0.2, .high = 0.2}, 0.5), 0.0);
  EXPECT_DOUBLE_EQ(covered({.low = 0.0, .high = 0.5}, 0.5), 0.5);
}

TEST(Calibration, OfNothingIsNothing) {
  for (const double share : PitHistogram().shares()) EXPECT_EQ(share, 0.0);
}

}  // namespace
}  // namespace pits::test
