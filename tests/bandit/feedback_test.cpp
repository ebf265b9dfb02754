// Rewards that come late, out of order, in batches, twice or never.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"

namespace pits::test {
namespace {

const std::vector<float> x0 = {0.3F, -1.0F, 0.5F};

Bandit counter(const BanditConfig& config = {}) { return Bandit("ucb1,initial_pulls=0", small_setup(), config); }

// What an agent that was told these events, in this order, has learned.
std::string state_after(const std::vector<Event>& events) {
  const auto agent = find_recipe(agent_catalogue(), "agent", parse_spec("lin-ts"))->make(small_setup());
  learn_all(*agent, events);
  Archive archive;
  agent->archive(archive);
  return archive.bytes();
}

RC_GTEST_PROP(Feedback, IsLearnedInTheOrderOfArrivalWhateverTheOrderOfDecisions, (std::uint32_t seed)) {
  constexpr std::size_t n = 20;
  Bandit bandit("lin-ts", small_setup());
  std::vector<Event> events = random_events(n, seed);
  for (std::size_t t = 0; t < n; ++t) events[t].action = bandit.decide(events[t].x).action;
  std::vector<DecisionId> order(n);
  for (std::size_t t = 0; t < n; ++t) order[t] = t;
  const std::size_t arriving = *rc::gen::inRange<std::size_t>(0, n + 1);
  for (std::size_t t = n; t-- > 1;) std::swap(order[t], order[*rc::gen::inRange<std::size_t>(0, t + 1)]);

  std::vector<Event> expected;
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < arriving; ++i) {
    expected.push_back(events[order[i]]);
    outcomes.push_back({.id = order[i], .reward = events[order[i]].reward});
  }
  const std::size_t first = *rc::gen::inRange<std::size_t>(0, arriving + 1);  // two batches
  RC_ASSERT(bandit.learn(std::span(outcomes).first(first)) == first);
  RC_ASSERT(bandit.learn(std::span(outcomes).subspan(first)) == arriving - first);
  RC_ASSERT(bandit.pending() == n - arriving);
  RC_ASSERT(agent_state(bandit) == state_after(expected));
}

TEST(Feedback, TheFirstRewardOfADecisionCounts) {
  Bandit bandit("lin-ts", small_setup());
  const Choice choice = bandit.decide(x0);
  EXPECT_TRUE(bandit.learn(choice.id, 1.0F));
  const std::string once = agent_state(bandit);
  EXPECT_FALSE(bandit.learn(choice.id, 0.0F));
  const Choice next = bandit.decide(x0);
  const std::vector<Outcome> twice = {{choice.id, 0.5F}, {next.id, 0.25F}, {next.id, 0.75F}};
  EXPECT_EQ(bandit.learn(twice), 1U);
  EXPECT_EQ(agent_state(bandit), state_after({{x0, choice.action, 1.0F}, {x0, next.action, 0.25F}}));
  EXPECT_NE(agent_state(bandit), once);
}

TEST(Feedback, UnknownIdsAndBadRewardsAreErrorsAndTeachNothing) {
  Bandit bandit("lin-ts", small_setup());
  expect_mentions(message_of([&] { bandit.learn(0, 1.0F); }), {"id 0", "none was made"});
  bandit.decide(x0);
  const std::string before = bandit.saved();
  expect_mentions(message_of([&] { bandit.learn(1, 1.0F); }), {"id 1", "the last one was 0"});
  const std::vector<Outcome> half_good = {{0, 1.0F}, {7, 1.0F}};
  EXPECT_THROW(bandit.learn(half_good), Error);
  const std::vector<Outcome> not_finite = {{0, 1.0F}, {0, std::numeric_limits<float>::quiet_NaN()}};
  expect_mentions(message_of([&] { bandit.learn(not_finite); }), {"decision 0", "finite"});
  EXPECT_EQ(bandit.saved(), before);
}

// An agent that refuses a reward leaves the decision waiting for a better one.
TEST(Feedback, ARefusedRewardLeavesTheDecisionPending) {
  Bandit bandit("bernoulli-ts", small_setup());
  bandit.decide(x0);
  EXPECT_THROW(bandit.learn(0, 5.0F), Error);
  EXPECT_EQ(bandit.pending(), 1U);
  EXPECT_TRUE(bandit.learn(0, 1.0F));
}

// Each overdue decision says so once and waits no longer.
TEST(Feedback, ADefaultThatTheAgentRefusesIsNamedAndBlocksNothing) {
  Bandit bandit("bernoulli-ts", small_setup(), {.default_after = 3, .default_reward = -1.0});
  for (int i = 0; i < 3; ++i) bandit.decide(x0);
  expect_mentions(message_of([&] { bandit.decide(x0); }), {"default_reward", "decision 0", "-1"});
  EXPECT_EQ(bandit.pending(), 2U);
  EXPECT_EQ(bandit.decide(x0).id, 3U);
}

TEST(Feedback, ARewardThatNeverComesCountsAsTheDefault) {
  Bandit bandit("lin-ts", small_setup(), {.default_after = 3, .default_reward = 0.125});
  std::vector<Event> learned;
  std::vector<Action> actions;
  for (std::size_t t = 0; t < 10; ++t) {
    actions.push_back(bandit.decide(x0).action);
    if (t >= 3) learned.push_back({x0, actions[t - 3], 0.125F});
    EXPECT_EQ(bandit.pending(), std::min<std::size_t>(t + 1, 3)) << t;
    EXPECT_EQ(agent_state(bandit), state_after(learned)) << t;
  }
  EXPECT_FALSE(bandit.learn(2, 1.0F));  // too late
  EXPECT_TRUE(bandit.learn(8, 1.0F));
  learned.push_back({x0, actions[8], 1.0F});
  EXPECT_EQ(agent_state(bandit), state_after(learned));
}

TEST(Feedback, NeverMeansNever) {
  Bandit bandit = counter();
  for (int t = 0; t < 1000; ++t) bandit.decide(x0);
  EXPECT_EQ(bandit.pending(), 1000U);
  EXPECT_TRUE(bandit.learn(0, 1.0F));
}

TEST(Feedback, OfActionsThatSomebodyElseChose) {
  Bandit bandit("lin-ts", small_setup());
  bandit.learn(x0, 2, 0.5F);
  EXPECT_EQ(agent_state(bandit), state_after({{x0, 2, 0.5F}}));
  EXPECT_EQ(bandit.pending(), 0U);
  EXPECT_THROW(bandit.learn(x0, action_count, 0.5F), Error);
}

TEST(Bandit, DecidesAsItsAgentDoesUnderTheSameIds) {
  Bandit bandit("pi-ts,particles=7,hidden=6", small_setup());
  const auto agent =
      find_recipe(agent_catalogue(), "agent", parse_spec("pi-ts,particles=7,hidden=6"))->make(small_setup());
  const std::vector<Event> rounds = random_events(60, 4);
  for (DecisionId t = 0; t < rounds.size(); ++t) {
    const Action expected = agent->choose({.x = rounds[t].x, .id = t}).action;
    ASSERT_EQ(bandit.decide(rounds[t].x).action, expected);
    const Feedback event{.x = rounds[t].x, .action = expected, .reward = rounds[t].reward, .id = t};
    agent->learn({&event, 1});
    bandit.learn(t, rounds[t].reward);
  }
}

TEST(Bandit, RefusesBadConfigsAndBadSpecs) {
  expect_mentions(message_of([] { counter({.default_after = -1}); }), {"default_after", "at least 0"});
  expect_mentions(message_of([] { Bandit("lin-tz", small_setup()); }), {"did you mean 'lin-ts'"});
  expect_mentions(message_of([] { Bandit("lin-ts,lambda=0", small_setup()); }), {"lambda"});
}

// A context that does not fit makes no decision: the next one has the id that this one would have had.
TEST(Bandit, ARefusedContextTakesNoId) {
  Bandit bandit = counter();
  EXPECT_THROW(bandit.decide(std::vector<float>{1.0F}), Error);
  EXPECT_EQ(bandit.decide(x0).id, 0U);
}

}  // namespace
}  // namespace pits::test
