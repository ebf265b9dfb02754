// Forced pulls: by turns, or uniformly among the actions that lack rewards.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "agent/play.h"
#include "agent/stubborn.h"
#include "chi_square.h"
#include "pits/agent/presets.h"
#include "pits/core/error.h"

namespace pits::test {
namespace {

Stubborn stubborn(int initial_pulls, std::size_t K, std::size_t rewards = 0) {
  Stubborn agent({.initial_pulls = initial_pulls}, {.context_size = 1, .actions = K});
  const Feedback event{.x = nowhere, .action = 0, .reward = 1.0F};
  for (std::size_t i = 0; i < rewards; ++i) agent.learn({&event, 1});
  return agent;
}

TEST(RoundRobin, GoesRoundRobinWithPropensityOneAndThenEnds) {
  for (DecisionId id = 0; id < 12; ++id) {
    const Stubborn agent = stubborn(3, 4, id);
    const Decision forced = agent.choose({.x = nowhere, .id = id, .want_propensity = true});
    EXPECT_EQ(forced.action, id % 4);
    EXPECT_EQ(forced.propensity, 1.0F);
    EXPECT_FALSE(agent.choose({.x = nowhere, .id = id}).propensity.has_value());
    std::vector<float> p(4), certain(4, 0.0F);
    certain[id % 4] = 1.0F;
    EXPECT_EQ(agent.propensities({.x = nowhere, .id = id}, 1, p), 0.0);
    EXPECT_EQ(p, certain);
  }
  EXPECT_EQ(stubborn(3, 4, 12).choose({.x = nowhere, .id = 12}).action, 3U);
  EXPECT_EQ(stubborn(0, 4).choose({.x = nowhere, .id = 0}).action, 3U);
}

TEST(RoundRobin, LeavesTheDecisionToTheAgentWhereTheTurnIsNotAllowed) {
  const std::vector<std::uint8_t> mask = {1, 0, 1, 0};
  const auto at = [&](DecisionId id) {
    return stubborn(2, 4).choose({.x = nowhere, .actions = {mask}, .id = id}).action;
  };
  EXPECT_EQ(at(0), 0U);
  EXPECT_EQ(at(1), 2U);  // its own
  EXPECT_EQ(at(4), 0U);
  EXPECT_EQ(at(6), 2U);
}

// Actions that came later are left to the agent.
TEST(RoundRobin, IsOfTheFirstActionsAlone) {
  const Stubborn agent({.initial_pulls = 2}, {.context_size = 1, .actions = 5, .later_actions = 2});
  for (DecisionId id = 0; id < 9; ++id) EXPECT_EQ(agent.choose({.x = nowhere, .id = id}).action, id % 3);
}

constexpr int n = 2;

Stubborn uniform_start(std::size_t K, double floor = 0.0, int pulls = n, double own_floor = 0.0) {
  return {{.initial_pulls = pulls, .cold_start = ColdStart::uniform, .floor = own_floor},
          {.context_size = 1, .actions = K, .seed = 5, .floor = floor}};
}

void reward(Agent& agent, Action action, DecisionId id) {
  const Feedback event{.x = nowhere, .action = action, .reward = 1.0F, .id = id};
  agent.learn({&event, 1});
}

// Teaches each action its number of rewards; decision ids count them.
void reward(Agent& agent, const std::vector<int>& rewards) {
  for (Action a = 0; a < rewards.size(); ++a) {
    for (int i = 0; i < rewards[a]; ++i) reward(agent, a, agent.events());
  }
}

// m cold actions of k allowed ones: (1 − floor)/m + floor/k, the others floor/k. Without a cold one, Stubborn decides.
std::vector<double> closed_form(const std::vector<int>& rewards, const std::vector<std::uint8_t>& mask, int pulls,
                                double floor) {
  double m = 0.0;
  double k = 0.0;
  std::size_t last = 0;
  for (std::size_t a = 0; a < rewards.size(); ++a) {
    if (mask[a] == 0) continue;
    m += rewards[a] < pulls ? 1.0 : 0.0;
    k += 1.0;
    last = a;
  }
  std::vector<double> p(rewards.size(), 0.0);
  for (std::size_t a = 0; a < rewards.size(); ++a) {
    const double own = m > 0.0 ? (rewards[a] < pulls ? 1.0 / m : 0.0) : (a == last ? 1.0 : 0.0);
    if (mask[a] != 0) p[a] = (1.0 - floor) * own + floor / k;
  }
  return p;
}

RC_GTEST_PROP(UniformStart, HasTheProbabilitiesOfItsClosedForm, ()) {
  const auto K = *rc::gen::inRange<std::size_t>(1, 7);
  const int pulls = *rc::gen::inRange(1, 4);
  const double floor = *rc::gen::element(0.0, 0.1, 1.0), own_floor = *rc::gen::element(0.0, 0.05, 0.3);
  const auto rewards = *rc::gen::container<std::vector<int>>(K, rc::gen::inRange(0, pulls + 2));
  auto mask = *rc::gen::container<std::vector<std::uint8_t>>(K, rc::gen::inRange<std::uint8_t>(0, 2));
  mask[*rc::gen::inRange<std::size_t>(0, K)] = 1;
  Stubborn agent = uniform_start(K, floor, pulls, own_floor);
  reward(agent, rewards);
  const Query query{.x = nowhere, .actions = {mask}, .id = agent.events(), .want_propensity = true};
  const std::vector<double> expected = closed_form(rewards, mask, pulls, std::max(floor, own_floor));
  const std::vector<float> p = probabilities(agent, query);
  for (std::size_t a = 0; a < K; ++a) RC_ASSERT(std::abs(p[a] - expected[a]) < 1e-6);
  const Decision decision = agent.choose(query);
  RC_ASSERT(mask[decision.action] != 0);
  RC_ASSERT(decision.propensity == p[decision.action]);
}

// Over seeds: the frequencies of decisions are the probabilities, with a floor, a mask and some actions warm.
TEST(UniformStart, PlaysActionsAsOftenAsItsProbabilitiesSay) {
  const std::vector<int> rewards = {0, n, 1, n, 0, n};
  const std::vector<std::uint8_t> mask = {1, 1, 1, 0, 0, 1};
  std::vector<double> counts(6, 0.0);
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    Stubborn agent({.initial_pulls = n, .cold_start = ColdStart::uniform, .floor = 0.3},
                   {.context_size = 1, .actions = 6, .seed = seed, .floor = 0.1});
    reward(agent, rewards);
    counts[agent.choose({.x = nowhere, .actions = {mask}, .id = agent.events()}).action] += 1.0;
  }
  expect_frequencies(counts, closed_form(rewards, mask, n, 0.3));
}

// Each count has standard deviation √(500·0.1·0.9) = 6.7; beyond 4 of them lies 1 in 16,000.
TEST(UniformStart, GivesEachActionItsShareBeforeTheFirstReward) {
  constexpr std::size_t K = 10;
  constexpr int decisions = 500;
  for (const char* spec : {"pi-ts", "pi-ts:exact,cold_start=uniform"}) {
    for (const double floor : {0.0, 0.2}) {
      const auto agent = small_agent(spec, {.context_size = 1, .actions = K, .seed = 8, .floor = floor});
      std::vector<double> counts(K, 0.0);
      for (DecisionId id = 0; id < decisions; ++id) {
        const Decision decision = agent->choose({.x = nowhere, .id = id, .want_propensity = true});
        ASSERT_FLOAT_EQ(decision.propensity.value(), 0.1F);
        counts[decision.action] += 1.0;
      }
      expect_frequencies(counts, std::vector<double>(K, 0.1));
      for (const double count : counts) EXPECT_NEAR(count, 50.0, 4.0 * std::sqrt(decisions * 0.1 * 0.9));
    }
  }
}

// Rewards at once: n·K decisions bring n of each action, not by turns.
TEST(UniformStart, PullsEachActionItsNumberOfTimesAndThenEnds) {
  Stubborn agent = uniform_start(5, 0.0, 3);
  std::vector<Action> played;
  for (DecisionId id = 0; id < 15; ++id) {
    played.push_back(agent.choose({.x = nowhere, .id = id}).action);
    reward(agent, played.back(), id);
  }
  for (Action a = 0; a < 5; ++a) EXPECT_EQ(std::ranges::count(played, a), 3);
  bool turns = true;
  for (std::size_t i = 0; i < played.size(); ++i) turns = turns && played[i] == i % 5;
  EXPECT_FALSE(turns);
  for (DecisionId id = 15; id < 30; ++id) EXPECT_EQ(agent.choose({.x = nowhere, .id = id}).action, 4U);
}

// 10·n·K = 80 rewards of others.
TEST(UniformStart, GivesUpAnActionWhoseRewardsNeverCome) {
  Stubborn agent = uniform_start(4);
  for (DecisionId id = 0; id < 80; ++id) {
    const std::vector<float> p = probabilities(agent, {.x = nowhere, .id = id});
    EXPECT_GE(p[0], id < 6 ? 0.25F : 1.0F) << id;  // from then on the others have n rewards each
    reward(agent, static_cast<Action>(1 + id % 3), id);
  }
  EXPECT_EQ(probabilities(agent, {.x = nowhere, .id = 80})[0], 0.0F);
}

// The same where the decisions are the agent's. Once the other actions are warm, n·1 pulls of action 0 bring nothing,
// and the next decision brings a reward of another: 80 rewards take at most 80·(n + 1) decisions after the 6 of the
// others. Were action 0 forced until other rewards come, it would be forced for ever.
TEST(UniformStart, DoesNotWaitForEverForAnActionWhoseRewardsNeverCome) {
  Stubborn agent = uniform_start(4);
  std::vector<int> pulls(4, 0);
  DecisionId last = 0;
  for (DecisionId id = 0; id < 2000; ++id) {
    const Action action = agent.choose({.x = nowhere, .id = id}).action;
    ++pulls[action];
    if (action == 0) last = id;
    if (action != 0) reward(agent, action, id);
  }
  EXPECT_GE(pulls[0], n);
  EXPECT_LE(last, 80U * (n + 1));
  EXPECT_GT(pulls[3], 1700);
}

// Rewards of n·m decisions are outstanding: the agent decides until one of them comes.
TEST(UniformStart, LeavesDecisionsToTheAgentWhileEnoughRewardsAreOutstanding) {
  Stubborn agent = uniform_start(5);
  reward(agent, {0, n, 1, n, n});
  const DecisionId newest = agent.events() - 1;
  for (DecisionId after = 1; after <= 2 * n; ++after) {
    EXPECT_EQ(probabilities(agent, {.x = nowhere, .id = newest + after}), (std::vector{0.5F, 0.0F, 0.5F, 0.0F, 0.0F}));
  }
  const std::vector<float> own = {0.0F, 0.0F, 0.0F, 0.0F, 1.0F};
  for (const DecisionId after : {2 * n + 1, 100, 100000}) {
    EXPECT_EQ(probabilities(agent, {.x = nowhere, .id = newest + after}), own);
  }
  reward(agent, 2, 100);
  EXPECT_EQ(probabilities(agent, {.x = nowhere, .id = 100 + n})[0], 1.0F);
  EXPECT_EQ(probabilities(agent, {.x = nowhere, .id = 101 + n}), own);
}

// Two that come together after 10 rewards are forced for at most 10·n·2 = 40 more; the older ones stay warm.
TEST(UniformStart, IsThatOfLaterActionsToo) {
  Stubborn agent = uniform_start(3);
  reward(agent, {4, 4, 2});
  agent.add_actions(2);
  EXPECT_EQ(probabilities(agent, {.x = nowhere, .id = 10}), (std::vector{0.0F, 0.0F, 0.0F, 0.5F, 0.5F}));
  Stubborn pulled = agent;
  reward(pulled, 4, 10);
  reward(pulled, 4, 11);
  EXPECT_EQ(probabilities(pulled, {.x = nowhere, .id = 12}), (std::vector{0.0F, 0.0F, 0.0F, 1.0F, 0.0F}));
  for (DecisionId id = 10; id < 49; ++id) reward(agent, 0, id);
  EXPECT_EQ(probabilities(agent, {.x = nowhere, .id = 49})[3], 0.5F);
  reward(agent, 0, 49);
  EXPECT_EQ(probabilities(agent, {.x = nowhere, .id = 50})[3], 0.0F);
}

// Cold actions come first, in each of their orders equally often; then the agent's own, best first.
TEST(UniformStart, RanksColdActionsFirst) {
  std::map<std::vector<Action>, double> orders;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Stubborn other({.initial_pulls = n, .cold_start = ColdStart::uniform},
                   {.context_size = 1, .actions = 5, .seed = seed});
    reward(other, {1, n, 0, n, 1});
    const std::vector<Action> ranked = ranking(other, {.x = nowhere, .id = other.events()}, 5);
    EXPECT_EQ(ranked[3], 3U);
    EXPECT_EQ(ranked[4], 1U);
    orders[{ranked.begin(), ranked.begin() + 3}] += 1.0;
  }
  std::vector<double> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  expect_frequencies(counts, std::vector<double>(6, 1.0 / 6.0));
}

// No counter of decisions: asked in another order, or only once, the answers are the same.
TEST(UniformStart, DoesNotDependOnTheDecisionsBefore) {
  const auto agent = small_agent("pi-ts", small_setup());
  std::vector<Action> forwards;
  const std::vector<Event> asked = random_events(60, 3);
  for (DecisionId id = 0; id < asked.size(); ++id) {
    forwards.push_back(agent->choose({.x = asked[id].x, .id = id}).action);
  }
  for (DecisionId id = asked.size(); id-- > 0;) {
    EXPECT_EQ(small_agent("pi-ts", small_setup())->choose({.x = asked[id].x, .id = id}).action, forwards[id]);
    EXPECT_EQ(agent->clone()->choose({.x = asked[id].x, .id = id}).action, forwards[id]);
  }
}

void copy_state(Agent& from, Agent& to) {
  Archive out;
  from.archive(out);
  Archive in(out.bytes());
  to.archive(in);
  in.finish();
}

// A loaded agent forces the same actions, for as long.
TEST(UniformStart, IsSavedInTheMiddle) {
  Stubborn agent = uniform_start(3);
  for (DecisionId id = 0; id < 70; ++id) {
    if (id == 20) agent.add_actions(2);
    Stubborn loaded({.initial_pulls = n, .cold_start = ColdStart::uniform}, agent.setup());
    copy_state(agent, loaded);
    for (DecisionId later = id; later < id + 12; ++later) {
      const Query query{.x = nowhere, .id = later};
      EXPECT_EQ(probabilities(loaded, query), probabilities(agent, query));
      EXPECT_EQ(loaded.choose(query).action, agent.choose(query).action);
    }
    const Action action = agent.choose({.x = nowhere, .id = id}).action;
    if (action != 0) reward(agent, action, id);  // those of action 0 never come
  }
}

TEST(UniformStart, OfActionsThatAreNotThereIsRefused) {
  Stubborn five = uniform_start(5);
  Stubborn three = uniform_start(3);
  EXPECT_THROW(copy_state(five, three), Error);
}

// The published agents keep their turns.
TEST(UniformStart, IsThatOfTheAgentForProductsAlone) {
  for (const PiTsPreset& row : pi_ts_presets()) {
    const bool uniform = row.agent == "pi-ts" && (row.name == "auto" || row.name == "fast");
    EXPECT_EQ(row.config().exploration.cold_start == ColdStart::uniform, uniform) << row.agent << ":" << row.name;
  }
  EXPECT_EQ(Exploration{}.cold_start, ColdStart::round_robin);
}

}  // namespace
}  // namespace pits::test
