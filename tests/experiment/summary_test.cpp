#include "pits/experiment/summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiment/expect_error.h"

namespace pits {

using test::expect_mentions, test::message_of;

namespace {

TEST(Statistics, OfAnOddNumberByHand) {
  const Statistics s = statistics({5.0, 1.0, 3.0});
  EXPECT_DOUBLE_EQ(s.mean, 3.0);
  EXPECT_DOUBLE_EQ(s.std, 2.0);  // √((4 + 4 + 0)/2)
  EXPECT_DOUBLE_EQ(s.se, 2.0 / std::sqrt(3.0));
  EXPECT_EQ(s.median, 3.0);
}

TEST(Statistics, OfAnEvenNumberByHand) {
  const Statistics s = statistics({10.0, 2.0, 4.0, 0.0});
  EXPECT_DOUBLE_EQ(s.mean, 4.0);
  EXPECT_DOUBLE_EQ(s.std, std::sqrt(56.0 / 3.0));  // (36 + 4 + 0 + 16)/3
  EXPECT_DOUBLE_EQ(s.se, std::sqrt(56.0 / 3.0) / 2.0);
  EXPECT_EQ(s.median, 3.0);
}

TEST(Statistics, OfOneRealizationHasNoSpread) {
  const Statistics s = statistics({7.5});
  EXPECT_EQ(s.mean, 7.5);
  EXPECT_EQ(s.median, 7.5);
  EXPECT_TRUE(std::isnan(s.std));
  EXPECT_TRUE(std::isnan(s.se));
}

TEST(Statistics, AreNotDefinedWhereARealizationIsNot) {
  std::vector<double> values(101, 200.0);  // sorted with NaN among them, any of these could be in the middle
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = std::nan("");
  const Statistics s = statistics(values);
  for (const double x : {s.mean, s.std, s.se, s.median}) EXPECT_TRUE(std::isnan(x));
}

// Two agents, two realizations of two rounds on the wheel, made up.
class TwoAgents : public testing::Test {
 protected:
  TwoAgents() : plan({.agents = {"lin-ts", "uniform"}, .environments = {"wheel"}, .steps = 2, .realizations = 2}) {
    results.put(0, trajectory(1.0, {0.5, 1.0}, {2, 0, 0, 0, 0}, 0.25));
    results.put(1, trajectory(3.0, {1.5, 3.0}, {0, 1, 0, 0, 1}, 0.5));
    results.put(2, trajectory(4.0, {1.0, 4.0}, {1, 1, 0, 0, 0}, 1.0));
    results.put(3, trajectory(4.0, {1.0, 4.0}, {1, 1, 0, 0, 0}, 2.0));
  }
  static Trajectory trajectory(double regret, std::vector<double> curve, std::vector<std::uint64_t> pulls,
                               double seconds) {
    return {.rounds = 2,
            .regret = regret,
            .uniform_regret = 4.0,
            .curve = std::move(curve),
            .pulls = std::move(pulls),
            .seconds = seconds};
  }
  Plan plan;
  MemoryResults results{plan};
};

TEST_F(TwoAgents, AreSummarisedOverTheirRealizations) {
  const std::vector<SummaryRow> rows = summarise(plan, results);
  ASSERT_EQ(rows.size(), 2U);
  const SummaryRow& row = rows[0];
  EXPECT_EQ(row.agent, "lin-ts");
  EXPECT_EQ(row.environment, "wheel");
  EXPECT_EQ(row.finals, (std::vector<double>{25.0, 75.0}));
  EXPECT_EQ(row.normalized_regret.mean, 50.0);
  EXPECT_DOUBLE_EQ(row.normalized_regret.std, std::sqrt(1250.0));
  EXPECT_EQ(row.regret.mean, 2.0);
  EXPECT_DOUBLE_EQ(row.regret.std, std::sqrt(2.0));
  EXPECT_EQ(row.seconds, 0.75);
  EXPECT_EQ(row.curve_rounds, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(row.curve_mean, (std::vector<double>{1.0, 2.0}));
  EXPECT_DOUBLE_EQ(row.curve_std.at(0), std::sqrt(0.5));
  EXPECT_EQ(row.pulls, (std::vector<double>{1.0, 0.5, 0.0, 0.0, 0.5}));
  EXPECT_EQ(rows[1].agent, "uniform");
  EXPECT_EQ(rows[1].normalized_regret.mean, 100.0);
  EXPECT_EQ(rows[1].normalized_regret.std, 0.0);
}

// The plain two passes over all curves, far from zero so that cancelling sums of squares would show.
TEST(Summary, CurveBandsAreThoseOfTwoPasses) {
  constexpr std::size_t n = 50;
  const Plan plan({.agents = {"uniform"}, .environments = {"wheel"}, .steps = 3, .realizations = n});
  MemoryResults results(plan);
  std::vector<std::vector<double>> curves;
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(i);
    curves.push_back({1e6 + std::sin(x), 1e3 + 7.0 * std::cos(3.0 * x), -0.5 * x});
    results.put(i, {.rounds = 3, .regret = 1.0, .uniform_regret = 2.0, .curve = curves.back(), .pulls = {3}});
  }
  const SummaryRow row = summarise(plan, results).at(0);
  for (std::size_t p = 0; p < 3; ++p) {
    double mean = 0.0, square = 0.0;
    for (const auto& curve : curves) mean += curve[p] / n;
    for (const auto& curve : curves) square += (curve[p] - mean) * (curve[p] - mean);
    EXPECT_NEAR(row.curve_mean.at(p), mean, 1e-13 * std::abs(mean));
    EXPECT_NEAR(row.curve_std.at(p), std::sqrt(square / (n - 1)), 1e-8);
  }
}

TEST_F(TwoAgents, WithRealizationsOfDifferentLengthAreRefused) {
  Trajectory shorter = trajectory(1.0, {1.0}, {1, 0, 0, 0, 0}, 0.5);
  shorter.rounds = 1;
  results.put(3, shorter);
  expect_mentions(message_of([&] { summarise(plan, results); }), {"uniform", "realization 1 has 1", "has 2 rounds"});
}

TEST_F(TwoAgents, MakeALineOfJsonEach) {
  const SummaryRow row = summarise(plan, results)[0];
  const auto line = summary_line(plan, row, true);
  EXPECT_EQ(line["agent"], "lin-ts");
  EXPECT_EQ(line["env"], "wheel");
  EXPECT_EQ(line["steps"], 2);
  EXPECT_EQ(line["rounds"], 2);
  EXPECT_EQ(line["realizations"], 2);
  EXPECT_EQ(line["seed"], 0);
  EXPECT_EQ(line["normalized_regret"]["mean"], 50.0);
  EXPECT_EQ(line["normalized_regret"]["median"], 50.0);
  EXPECT_EQ(line["regret"]["mean"], 2.0);
  EXPECT_EQ(line["seconds"], 0.75);
  auto without = line;
  without.erase("seconds");
  EXPECT_EQ(summary_line(plan, row, false), without);
}

}  // namespace
}  // namespace pits
