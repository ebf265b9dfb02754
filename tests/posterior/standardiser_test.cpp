#include "pits/posterior/standardiser.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "pits/core/random.h"

namespace pits::test {
namespace {

using Rows = std::vector<std::vector<float>>;

const History nothing(1, 1);  // plain standardisation needs none

Rows random_rows(std::size_t n, std::size_t d, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  Rows rows(n, std::vector<float>(d));
  for (std::vector<float>& row : rows) {
    for (std::size_t j = 0; j < d; ++j) {
      row[j] = static_cast<float>(1000.0 * static_cast<double>(j) +
                                  std::pow(10.0, static_cast<double>(j) - 2.0) * stream.normal());
    }
  }
  return rows;
}

// Two passes, in double.
std::pair<double, double> mean_and_sd(const Rows& rows, std::size_t j) {
  double mean = 0.0, squares = 0.0;
  for (const auto& row : rows) mean += row[j] / static_cast<double>(rows.size());
  for (const auto& row : rows) squares += (row[j] - mean) * (row[j] - mean);
  return {mean, std::sqrt(squares / static_cast<double>(rows.size()))};
}

RC_GTEST_PROP(Standardiser, AreTheMeanAndTheDeviationOfWhatHasArrived, (std::uint32_t seed)) {
  const auto n = *rc::gen::inRange<std::size_t>(2, 50);
  const std::size_t d = 4;
  const Rows rows = random_rows(n, d, seed);
  Standardiser standardiser(UnitsKind::standardised, d);
  Rows rewards;
  for (const auto& row : rows) {
    standardiser.observe(row, row[1]);
    rewards.push_back({row[1]});
  }
  standardiser.refresh(nothing);
  const std::span<const float> z = standardiser.context(rows[0]);
  for (std::size_t j = 0; j < d; ++j) {
    const auto [mean, sd] = mean_and_sd(rows, j);
    const double expected = std::clamp((rows[0][j] - mean) / sd, -10.0, 10.0);
    RC_ASSERT(std::abs(z[j] - expected) < 1e-6 * (1.0 + std::abs(expected)));
  }
  const auto [mean, sd] = mean_and_sd(rewards, 0);
  RC_ASSERT(std::abs(standardiser.reward(7.0) - (7.0 - mean) / sd) < 1e-9 * (1.0 + std::abs((7.0 - mean) / sd)));
  RC_ASSERT(std::abs(standardiser.raw_reward(standardiser.reward(7.0)) - 7.0) < 1e-9 * (1.0 + std::abs(mean)));
}

TEST(Standardiser, DoNotChangeBeforeTheySettle) {
  Standardiser standardiser(UnitsKind::standardised, 1);
  for (const float x : {1.0F, 3.0F}) standardiser.observe(std::vector{x}, x);
  standardiser.refresh(nothing);
  const std::vector<float> x = {4.0F};
  EXPECT_EQ(standardiser.context(x)[0], 2.0F);  // mean 2, deviation 1
  standardiser.observe(std::vector{100.0F}, -100.0F);
  EXPECT_EQ(standardiser.context(x)[0], 2.0F);
  EXPECT_EQ(standardiser.reward(4.0), 2.0);
  standardiser.refresh(nothing);
  EXPECT_LT(standardiser.context(x)[0], 0.0F);
}

TEST(Standardiser, AColumnThatNeverVariedKeepsItsScaleAndNothingIsFurtherThanTenDeviations) {
  Standardiser standardiser(UnitsKind::standardised, 2);
  for (const float x : {1.0F, -1.0F, 1.0F, -1.0F}) standardiser.observe(std::vector{5.0F, x}, 0.0F);
  standardiser.refresh(nothing);
  const std::vector<float> x = {5.5F, 1e30F};
  EXPECT_EQ(standardiser.context(x)[0], 0.5F);
  EXPECT_EQ(standardiser.context(x)[1], 10.0F);
  EXPECT_EQ(standardiser.reward(3.0), 3.0);
}

TEST(Standardiser, OfABatchAreThoseOfItsContexts) {
  const Rows rows = random_rows(7, 3, 5);
  Standardiser standardiser(UnitsKind::standardised, 3);
  for (const auto& row : rows) standardiser.observe(row, row[0]);
  standardiser.refresh(nothing);
  Minibatch batch;
  batch.contexts.reshape(3, rows.size());
  for (std::size_t b = 0; b < rows.size(); ++b) {
    for (std::size_t j = 0; j < 3; ++j) batch.contexts(j, b) = rows[b][j];
    batch.rewards.push_back(rows[b][0]);
  }
  standardiser.apply(batch);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(batch.contexts(j, b), standardiser.context(rows[b])[j]);
    EXPECT_EQ(batch.rewards[b], static_cast<float>(standardiser.reward(rows[b][0])));
  }
}

TEST(Standardiser, RawOnesLeaveEverythingAsItIs) {
  Standardiser standardiser(UnitsKind::raw, 2);
  const std::vector<float> x = {3.0F, -1e20F};
  standardiser.observe(x, 9.0F);
  standardiser.refresh(nothing);
  EXPECT_EQ(standardiser.context(x).data(), x.data());
  EXPECT_EQ(standardiser.reward(9.0), 9.0);
  EXPECT_EQ(standardiser.reward_scale().high, 9.0);
}

}  // namespace
}  // namespace pits::test
