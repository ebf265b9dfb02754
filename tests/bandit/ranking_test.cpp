// Rankings: the best action, the next best by the same draws, and so on.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "bandit/small_bandit.h"
#include "chi_square.h"
#include "experiment/expect_error.h"
#include "model/plain_model.h"
#include "pits/agent/network/boltzmann.h"
#include "pits/agent/particle/pi_ts.h"

namespace pits::test {
namespace {

const std::vector<float> x0 = {0.3F, -1.0F, 0.5F};

class Ranking : public testing::TestWithParam<std::string> {};

TEST_P(Ranking, StartsWithTheDecisionAndHoldsEveryAllowedActionOnce) {
  const auto agent = small_agent(GetParam(), small_setup());
  learn_all(*agent, random_events(30, 5));
  const std::vector<std::uint8_t> three = {1, 1, 0, 1};
  for (DecisionId id = 0; id < 50; ++id) {
    const Query query{.x = x0, .id = id};
    const std::vector<Action> ranked = ranking(*agent, query, action_count);
    EXPECT_EQ(ranked.front(), agent->choose(query).action);
    EXPECT_EQ(std::set<Action>(ranked.begin(), ranked.end()).size(), action_count);
    const std::vector<Action> masked = ranking(*agent, {.x = x0, .actions = {three}, .id = id}, 9);
    EXPECT_EQ(std::set<Action>(masked.begin(), masked.end()), (std::set<Action>{0, 1, 3}));
    EXPECT_EQ(ranking(*agent, query, 2), (std::vector<Action>{ranked[0], ranked[1]}));
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Ranking, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });

// Pairs (first, second) as counts, and the probability of each under drawing without replacement in proportion to p.
void expect_plackett_luce(const Agent& agent, const std::vector<double>& p) {
  std::vector<double> counts, expected;
  for (Action a = 0; a < p.size(); ++a) {
    for (Action b = 0; b < p.size(); ++b) expected.push_back(a == b ? 0.0 : p[a] * p[b] / (1.0 - p[a]));
  }
  counts.resize(expected.size(), 0.0);
  for (DecisionId id = 0; id < 20000; ++id) {
    const std::vector<Action> ranked = ranking(agent, {.x = x0, .id = id}, 2);
    counts[ranked[0] * p.size() + ranked[1]] += 1.0;
  }
  expect_frequencies(counts, expected);
}

TEST(RankingByChance, DrawsWithoutReplacement) {
  expect_plackett_luce(*small_agent("uniform", small_setup()), std::vector<double>(action_count, 0.25));
  expect_plackett_luce(*small_agent("fixed,probabilities=0.4x0.3x0.2x0.1", small_setup()), {0.4, 0.3, 0.2, 0.1});
  const auto boltzmann = small_agent("boltzmann,temperature=0.5", small_setup());
  learn_all(*boltzmann, random_events(30, 5));
  std::vector<float> p(action_count);
  ASSERT_EQ(boltzmann->propensities({.x = x0}, 1, p), 0.0);
  expect_plackett_luce(*boltzmann, {p.begin(), p.end()});
  expect_plackett_luce(*small_agent("pi-ts,initial_pulls=0,floor=1", small_setup()),
                       std::vector<double>(action_count, 0.25));
}

// By the plain loop: a ranking is the order of some particle's predicted rewards, and particles are drawn evenly.
TEST(RankingByParticles, IsTheOrderOfOneParticlesRewards) {
  PiTsConfig config;
  config.posterior.particles = 5;
  config.posterior.model.hidden = {6};
  config.exploration.initial_pulls = 0;
  PiTs agent(config, small_setup());
  learn_all(agent, random_events(19, 5));
  const PlainModel plain{config.posterior.model, context_size, action_count};
  std::map<std::vector<Action>, double> expected;
  for (std::size_t i = 0; i < 5; ++i) {
    const auto m = plain.predict(as_double(agent.posterior().particles().row(i)), as_double(x0));
    std::vector<Action> order = {0, 1, 2, 3};
    std::ranges::stable_sort(order, [&](Action a, Action b) { return m[a] > m[b]; });
    expected[order] += 0.2;
  }
  std::map<std::vector<Action>, double> counts;
  for (DecisionId id = 0; id < 5000; ++id) counts[ranking(agent, {.x = x0, .id = id}, 4)] += 1.0;
  std::vector<double> seen, share;
  for (const auto& [order, p] : expected) {
    seen.push_back(counts[order]);
    share.push_back(p);
  }
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0.0), 5000.0);
  EXPECT_GT(expected.size(), 1U);
  expect_frequencies(seen, share);
}

TEST(BanditRank, GivesEveryPlaceAnIdAndLearnsEach) {
  Bandit bandit("lin-ts", small_setup());
  const std::vector<Choice> choices = bandit.rank(x0, 3);
  ASSERT_EQ(choices.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(choices[i].id, i);
  EXPECT_EQ(bandit.pending(), 3U);
  EXPECT_TRUE(bandit.learn(choices[1].id, 1.0F));
  const auto agent = find_recipe(agent_catalogue(), "agent", parse_spec("lin-ts"))->make(small_setup());
  learn_all(*agent, {{x0, choices[1].action, 1.0F}});
  Archive archive;
  agent->archive(archive);
  EXPECT_EQ(agent_state(bandit), archive.bytes());
  EXPECT_EQ(bandit.decide(x0).id, 3U);
  EXPECT_EQ(bandit.rank(x0, 100).size(), action_count);
  EXPECT_THROW(bandit.rank(x0, 0), Error);
}

// Likes later actions better, and counts how often it is asked for probabilities.
class Counting : public Cloned<Counting> {
 public:
  Counting(const AgentSetup& setup, int& asked) : Cloned(setup), asked_(&asked) {}

 private:
  Action decide(const Query& query, Stream&, ActionProbabilities* exact) const override {
    Action best = static_cast<Action>(actions() - 1);
    while (!query.actions.admits(best)) --best;
    if (exact != nullptr) {
      ++*asked_;
      exact->set_certain(best);
    }
    return best;
  }
  void observe(const Feedback&) override {}
  void state(Archive&) override {}

  int* asked_;
};

// A propensity costs all particles: the first place has one, and no other pays for it.
TEST(BanditRank, AsksForThePropensityOfTheFirstPlaceAlone) {
  int asked = 0;
  const ServingPolicy with{.agent = std::make_unique<Counting>(small_setup(), asked),
                           .config = {},
                           .retired = std::vector<std::uint8_t>(action_count, 0)};
  ServingPolicy without = with.copy();
  without.config.propensity = PropensityKind::none;
  for (const ServingPolicy* serving : {&with, static_cast<const ServingPolicy*>(&without)}) {
    const auto ranked = serving->rank(x0, {}, action_count, 5);
    ASSERT_EQ(ranked.size(), action_count);
    for (Action i = 0; i < action_count; ++i) EXPECT_EQ(ranked[i].action, action_count - 1 - i);
    EXPECT_EQ(ranked.front().propensity.has_value(), serving == &with);
    EXPECT_EQ(asked, 1);
  }
}

TEST(BanditRank, HasThePropensityOfItsFirstPlace) {
  const auto agent = small_agent("pi-ts:paper,initial_pulls=0", small_setup());
  learn_all(*agent, random_events(30, 5));
  const ServingPolicy with{
      .agent = agent->clone(), .config = {}, .retired = std::vector<std::uint8_t>(action_count, 0)};
  ServingPolicy without = with.copy();
  without.config.propensity = PropensityKind::none;
  for (DecisionId id = 0; id < 50; ++id) {
    const auto ranked = with.rank(x0, {}, action_count, id), plain = without.rank(x0, {}, action_count, id);
    EXPECT_EQ(ranked.front().propensity, probabilities(*agent, {.x = x0, .id = id})[ranked.front().action]);
    for (std::size_t i = 0; i < action_count; ++i) EXPECT_EQ(ranked[i].action, plain[i].action);
  }
}

TEST(BanditRank, LeftToChanceIsAnEvenPermutation) {
  Bandit bandit("lin-ucb,initial_pulls=0", small_setup(), {.floor = 1.0});
  std::vector<double> counts(action_count * action_count, 0.0);
  for (int t = 0; t < 12000; ++t) {
    const std::vector<Choice> choices = bandit.rank(x0, 2);
    counts[choices[0].action * action_count + choices[1].action] += 1.0;
  }
  std::vector<double> even(counts.size(), 1.0 / 12.0);
  for (Action a = 0; a < action_count; ++a) even[a * action_count + a] = 0.0;
  expect_frequencies(counts, even);
}

}  // namespace
}  // namespace pits::test
