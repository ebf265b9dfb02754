#include "pits/experiment/loop.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <stdexcept>

#include "experiment/expect_error.h"
#include "experiment/tables.h"

namespace pits {
namespace {

using test::ScriptedAgent;
using test::TableEnvironment;

const std::vector<Round> three_rounds = {
    {.context = {1.0F, 2.0F}, .rewards = {1.0, 0.0}, .mean_rewards = {0.5, 0.25}},
    {.context = {3.0F, 4.0F}, .rewards = {2.0, 1.0}, .mean_rewards = {3.0, 1.0}},
    {.context = {5.0F, 6.0F}, .rewards = {-1.0, 1.0}, .mean_rewards = {0.0, 2.0}},
};

TEST(CurveRounds, AreAllOfAShortRun) {
  EXPECT_TRUE(curve_rounds(0).empty());
  EXPECT_EQ(curve_rounds(1), std::vector<std::size_t>{1});
  for (const std::size_t rounds : {2U, 199U, 200U}) {
    std::vector<std::size_t> all(rounds);
    std::iota(all.begin(), all.end(), std::size_t{1});
    EXPECT_EQ(curve_rounds(rounds), all);
  }
}

TEST(CurveRounds, AreTwoHundredEvenOnesOfALongRun) {
  const auto of_2000 = curve_rounds(2000);
  ASSERT_EQ(of_2000.size(), 200U);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(of_2000[i], 10 * (i + 1));
  for (const std::size_t rounds : {201U, 333U, 1999U, 100003U}) {
    const auto at = curve_rounds(rounds);
    ASSERT_EQ(at.size(), 200U);
    EXPECT_EQ(at.back(), rounds);
    std::size_t before = 0;
    for (const std::size_t t : at) {
      EXPECT_GE(t - before, rounds / 200) << rounds;
      EXPECT_LE(t - before, rounds / 200 + 1) << rounds;
      before = t;
    }
  }
}

TEST(RunRounds, AddsUpTheHandComputedRegret) {
  ScriptedAgent agent({1, 0, 1});
  const Trajectory path = run_rounds(agent, TableEnvironment(three_rounds), 3);
  EXPECT_EQ(path.rounds, 3U);
  EXPECT_EQ(path.curve, (std::vector<double>{0.5, 1.5, 2.5}));  // 0.5 − 0, 3 − 2, 2 − 1
  EXPECT_EQ(path.regret, 2.5);
  EXPECT_EQ(path.uniform_regret, 3.5);  // 0.5 − 0.5, 3 − 1.5, 2 − 0
  EXPECT_EQ(path.normalized_regret(), 100.0 * 2.5 / 3.5);
  EXPECT_EQ(path.pulls, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_GE(path.seconds, 0.0);
}

TEST(RunRounds, TellsTheAgentWhatItsOwnActionPaid) {
  ScriptedAgent agent({1, 0, 1});
  run_rounds(agent, TableEnvironment(three_rounds), 3);
  const std::vector<ScriptedAgent::Told> expected = {
      {{1.0F, 2.0F}, 1, 0.0F, 0}, {{3.0F, 4.0F}, 0, 2.0F, 1}, {{5.0F, 6.0F}, 1, 1.0F, 2}};
  EXPECT_EQ(agent.told(), expected);
}

TEST(RunRounds, EndsWithTheStepsOrWithTheProblem) {
  ScriptedAgent two({1, 0}), all({1, 0, 1});
  const Trajectory short_run = run_rounds(two, TableEnvironment(three_rounds), 2);
  EXPECT_EQ(short_run.rounds, 2U);
  EXPECT_EQ(short_run.regret, 1.5);
  const Trajectory whole = run_rounds(all, TableEnvironment(three_rounds), 1000);
  EXPECT_EQ(whole.rounds, 3U);
  EXPECT_EQ(whole.curve.size(), 3U);
  EXPECT_EQ(all.told().size(), 3U);
}

TEST(RunRounds, RefusesToRunNoRoundsAtAll) {
  ScriptedAgent agent({});
  test::expect_mentions(test::message_of([&] { run_rounds(agent, TableEnvironment(three_rounds), 0); }), {"no rounds"});
}

// Rewards that are small multiples of 1/8, so that sums are exact in any order.
std::vector<Round> many_rounds(std::size_t n) {
  std::vector<Round> rounds;
  for (std::size_t t = 0; t < n; ++t) {
    const auto eighths = [&](std::size_t salt) { return static_cast<double>((t * 37 + salt * 101) % 97) / 8.0; };
    rounds.push_back({.context = {static_cast<float>(t)},
                      .rewards = {eighths(1), eighths(2), eighths(3), eighths(4)},
                      .mean_rewards = {eighths(5), eighths(6), eighths(7), eighths(8)}});
  }
  return rounds;
}

TEST(RunRounds, AgreesWithAPlainRecomputationOnALongRun) {
  constexpr std::size_t n = 1234;
  const auto rounds = many_rounds(n);
  std::vector<Action> script;
  for (std::size_t t = 0; t < n; ++t) script.push_back(static_cast<Action>(t * t % 4));
  ScriptedAgent agent(script, 1);
  const Trajectory path = run_rounds(agent, TableEnvironment(rounds), n);

  double regret = 0.0, uniform = 0.0;
  std::vector<double> at(n + 1);
  std::vector<std::uint64_t> pulls(4);
  for (std::size_t t = 0; t < n; ++t) {
    const std::vector<double>& r = rounds[t].rewards;
    const std::vector<double>& m = rounds[t].mean_rewards;
    const double best = std::max({m[0], m[1], m[2], m[3]});
    at[t + 1] = regret += best - r[script[t]];
    uniform += best - (r[0] + r[1] + r[2] + r[3]) / 4.0;
    ++pulls[script[t]];
  }
  EXPECT_EQ(path.regret, regret);
  EXPECT_EQ(path.uniform_regret, uniform);
  EXPECT_EQ(path.pulls, pulls);
  ASSERT_EQ(path.curve.size(), 200U);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(path.curve[i], at[(i + 1) * n / 200]);
}

TEST(RunRounds, ReportsEveryRoundOnce) {
  for (const std::size_t n : {1U, 49U, 50U, 120U}) {
    ScriptedAgent agent(std::vector<Action>(n, 0), 1);
    std::size_t sum = 0, calls = 0;
    run_rounds(agent, TableEnvironment(many_rounds(n)), n, [&](std::size_t done) { sum += done, ++calls; });
    EXPECT_EQ(sum, n);
    EXPECT_EQ(calls, n / 50 + 1);
  }
}

TEST(RunRounds, StopsWhereTheCallerThrows) {
  ScriptedAgent agent(std::vector<Action>(200, 0), 1);
  const auto stop = [](std::size_t) { throw std::runtime_error("stop"); };
  EXPECT_THROW(run_rounds(agent, TableEnvironment(many_rounds(200)), 200, stop), std::runtime_error);
  EXPECT_EQ(agent.told().size(), 50U);
}

TEST(RunRounds, RefusesRewardsThatMakeTheRegretInfinite) {
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    auto rounds = three_rounds;
    rounds[1].rewards[0] = bad;
    ScriptedAgent hit({1, 0, 1}), missed({1, 1, 1});  // the normaliser meets it even where the agent does not
    for (ScriptedAgent* agent : {&hit, &missed}) {
      const auto run = [&] { run_rounds(*agent, TableEnvironment(rounds), 3); };
      test::expect_mentions(test::message_of(run), {"finite"});
    }
  }
}

}  // namespace
}  // namespace pits
