#include "pits/environment/row_contexts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "chi_square.h"
#include "environment/small_table.h"
#include "pits/environment/table_environment.h"

namespace pits::test {
namespace {

std::vector<float> context_of(const RowContexts& contexts, std::size_t t) {
  std::vector<float> x;
  contexts.fill(contexts.row(t), x);
  return x;
}

TEST(DrawDistinct, GivesEveryNumberOnceAndPrefixesOfOneShuffle) {
  const Address address{.seed = 3, .realization = 1, .purpose = Purpose::environment_setup};
  const std::vector<std::uint32_t> all = draw_distinct(address, 100, 100);
  EXPECT_EQ(std::set<std::uint32_t>(all.begin(), all.end()).size(), 100U);
  EXPECT_EQ(*std::ranges::max_element(all), 99U);
  const std::vector<std::uint32_t> few = draw_distinct(address, 100, 7);
  EXPECT_TRUE(std::ranges::equal(few, std::span(all).first(7)));
  EXPECT_TRUE(draw_distinct(address, 5, 0).empty());
}

// All 24 orders of four things are equally likely.
TEST(DrawDistinct, OrdersAreEquallyLikely) {
  std::map<std::vector<std::uint32_t>, double> met;
  for (std::uint32_t r = 0; r < 24000; ++r) ++met[draw_distinct({.seed = 8, .realization = r}, 4, 4)];
  ASSERT_EQ(met.size(), 24U);
  std::vector<double> counts;
  for (const auto& [order, count] : met) counts.push_back(count);
  expect_frequencies(counts, std::vector<double>(24, 1.0 / 24.0));
}

TEST(RowContexts, StandardiseOverTheRowsOfTheRealizationAsAPlainLoopDoes) {
  const SparseRows rows = random_rows(300, 6);
  for (const std::size_t steps : {1U, 2U, 50U, 300U, 1000U}) {
    for (const bool replace : {false, true}) {
      const EnvironmentSetup setup{.seed = 5, .realization = 2, .steps = steps};
      const RowContexts contexts(rows, {.standardise = Standardise::rows, .replace = replace}, setup);
      const std::size_t n = replace ? steps : std::min<std::size_t>(steps, 300);
      for (std::size_t j = 0; j < 6; ++j) {
        std::vector<double> x;
        for (std::size_t t = 0; t < n; ++t) x.push_back(dense_row(rows, contexts.row(t))[j]);
        double mean = 0.0, variance = 0.0;
        for (const double v : x) mean += v / static_cast<double>(n);
        for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(n);
        const bool constant = std::ranges::all_of(x, [&](double v) { return v == x[0]; });
        for (std::size_t t = 0; t < n; ++t) {
          const double expected = constant ? 0.0 : (x[t] - mean) / std::sqrt(variance);
          EXPECT_NEAR(context_of(contexts, t)[j], expected, 1e-5 * (1.0 + std::abs(expected))) << steps << ' ' << j;
        }
      }
    }
  }
}

TEST(RowContexts, WithoutReplacementMeetEveryRowOnceAndEnd) {
  const SparseRows rows = random_rows(40, 3);
  const RowContexts contexts(rows, {.standardise = Standardise::none}, {.seed = 1, .steps = 100});
  ASSERT_EQ(contexts.horizon(), 40U);
  std::set<std::size_t> met;
  for (std::size_t t = 0; t < 40; ++t) {
    met.insert(contexts.row(t));
    EXPECT_EQ(context_of(contexts, t), dense_row(rows, contexts.row(t))) << "as they are";
  }
  EXPECT_EQ(met.size(), 40U);
  EXPECT_EQ(RowContexts(rows, {}, {.seed = 1, .steps = 10}).horizon(), 10U);
}

TEST(RowContexts, WithReplacementHaveNoEnd) {
  const SparseRows rows = random_rows(40, 3);
  const RowContexts contexts(rows, {.replace = true}, {.seed = 1, .steps = 10});
  EXPECT_EQ(contexts.horizon(), std::numeric_limits<std::size_t>::max());
  std::vector<double> counts(40);
  for (std::size_t t = 0; t < 4000; ++t) ++counts.at(contexts.row(t));
  expect_frequencies(counts, std::vector<double>(40, 1.0 / 40.0));
}

TEST(RowContexts, CanBeSomeOfTheColumnsInAnyOrder) {
  const SparseRows rows = random_rows(20, 5);
  const std::uint32_t columns[] = {4, 0, 2};
  const RowContexts contexts(rows, {.standardise = Standardise::none}, {.seed = 1}, columns);
  EXPECT_EQ(contexts.size(), 3U);
  for (std::size_t t = 0; t < 20; ++t) {
    const std::vector<float> row = dense_row(rows, contexts.row(t));
    EXPECT_EQ(context_of(contexts, t), (std::vector<float>{row[4], row[0], row[2]}));
  }
}

TEST(TableEnvironment, PaysOneForTheClass) {
  const auto table = std::make_shared<Table>();
  table->contexts = random_rows(30, 3);
  for (std::uint32_t i = 0; i < 30; ++i) table->labels.push_back(i % 4);
  table->classes = {"a", "b", "c", "d"};
  table->remark = "a remark";
  table->sha256 = "abc";
  const TableEnvironment problem(table, {.rows = {.standardise = Standardise::none}}, {.seed = 4});
  EXPECT_EQ(problem.actions(), 4U);
  EXPECT_EQ(problem.context_size(), 3U);
  EXPECT_EQ(problem.horizon(), 30U);
  EXPECT_EQ(problem.remark(), "a remark");
  EXPECT_EQ(problem.data_sha256(), "abc");
  for (std::size_t t = 0; t < 30; ++t) {
    Round round;
    problem.draw(t, round);
    std::size_t row = 0;
    while (dense_row(table->contexts, row) != round.context) ++row;
    for (std::size_t a = 0; a < 4; ++a) EXPECT_EQ(round.rewards[a], a == row % 4 ? 1.0 : 0.0);
    EXPECT_EQ(round.mean_rewards, round.rewards);
  }
}

TEST(TableEnvironment, PaysTheRewardColumns) {
  const auto table = std::make_shared<Table>();
  table->contexts = random_rows(30, 3);
  table->reward_columns = 2;
  for (int i = 0; i < 60; ++i) table->rewards.push_back(0.1 * i);
  const TableConfig config{.rewards = RewardRule::columns, .rows = {.standardise = Standardise::none}};
  const TableEnvironment problem(table, config, {.seed = 4});
  EXPECT_EQ(problem.actions(), 2U);
  for (std::size_t t = 0; t < 30; ++t) {
    Round round;
    problem.draw(t, round);
    std::size_t row = 0;
    while (dense_row(table->contexts, row) != round.context) ++row;
    EXPECT_EQ(round.rewards, (std::vector<double>{table->rewards[2 * row], table->rewards[2 * row + 1]}));
    EXPECT_EQ(round.best_mean(), round.rewards[1]);
  }
}

}  // namespace
}  // namespace pits::test
