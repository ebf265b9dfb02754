// Probabilities of all actions, of every agent: exact ones are the frequencies of its decisions, estimated ones lie
// within their stated error.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "agent/choice_probability.h"
#include "bandit/small_bandit.h"
#include "chi_square.h"
#include "experiment/expect_error.h"
#include "pits/agent/context_free/context_free_ts.h"

namespace pits::test {
namespace {

const std::vector<float> x0 = {0.3F, -1.0F, 0.5F};
const std::vector<std::uint8_t> three = {1, 1, 0, 1};

std::vector<double> counts_of(const Agent& agent, const Query& base, DecisionId decisions) {
  std::vector<double> counts(action_count, 0.0);
  Query query = base;
  for (DecisionId n = 1; n <= decisions; ++n) {
    query.id = base.id + n * action_count;  // the same turn while pulls are forced
    counts[agent.choose(query).action] += 1.0;
  }
  return counts;
}

// Five standard errors of the difference of two independent shares.
void expect_near(const std::vector<float>& p, double draws, std::vector<double> counts) {
  const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (Action a = 0; a < p.size(); ++a) {
    const double share = counts[a] / n;
    const double pooled = (p[a] * draws + counts[a]) / (draws + n);
    EXPECT_LE(std::abs(p[a] - share), 5.0 * std::sqrt(pooled * (1.0 - pooled) * (1.0 / n + 1.0 / draws)) + 1e-12) << a;
  }
}

class Propensities : public testing::TestWithParam<std::string> {};

TEST_P(Propensities, AreTheFrequenciesOfDecisions) {
  constexpr std::uint32_t draws = 2000;
  for (const std::size_t events : {0U, 3U, 30U}) {
    const auto agent = small_agent(GetParam(), small_setup());
    for (const Event& e : random_events(events, 5)) {
      Feedback feedback = e.feedback();
      feedback.id = 1 << 20;  // newer than all that is asked: no reward is outstanding
      agent->learn({&feedback, 1});
    }
    const auto snapshot = agent->clone();
    for (const ActionSet& actions : {ActionSet{}, ActionSet{three}}) {
      // A turn that the mask does not allow, while pulls are forced; one that it does.
      const Query query{.x = x0, .actions = actions, .id = events == 3 ? 6U : 7U};
      std::vector<float> p(action_count), frozen(action_count);
      const double error = agent->propensities(query, draws, p);
      EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1.0, 1e-5);
      EXPECT_LE(error, 0.5 / std::sqrt(draws));
      for (Action a = 0; a < action_count; ++a) EXPECT_TRUE(actions.admits(a) || p[a] == 0.0F);
      EXPECT_EQ(snapshot->propensities(query, draws, frozen), error);
      EXPECT_EQ(frozen, p);
      const std::vector<double> counts = counts_of(*agent, query, 2000);
      if (error == 0.0) {
        expect_frequencies(counts, {p.begin(), p.end()});
      } else {
        expect_near(p, draws, counts);
      }
    }
  }
}

TEST_P(Propensities, RefuseQueriesThatDoNotFit) {
  const auto agent = small_agent(GetParam(), small_setup());
  learn_all(*agent, random_events(30, 5));
  std::vector<float> p(action_count);
  EXPECT_THROW(agent->propensities({.x = std::vector<float>{1.0F}}, 10, p), Error);
  const std::vector<std::uint8_t> last = {0, 0, 0, 1};
  EXPECT_THROW(agent->propensities({.x = x0, .actions = {last}}, 10, std::span(p).first(3)), Error);
  EXPECT_THROW(agent->propensities({.x = x0, .actions = {std::vector<std::uint8_t>(action_count, 0)}}, 10, p), Error);
}

// Imagined decisions are draws of their own: the decision that is made stays what it was, and two ids differ.
TEST_P(Propensities, ArePartOfTheAddressAndNotOfTheDecision) {
  const auto agent = small_agent(GetParam(), small_setup());
  learn_all(*agent, random_events(30, 5));
  std::vector<float> once(action_count), again(action_count), other(action_count);
  const Action before = agent->choose({.x = x0, .id = 7}).action;
  const double error = agent->propensities({.x = x0, .id = 7}, 500, once);
  agent->propensities({.x = x0, .id = 7}, 500, again);
  agent->propensities({.x = x0, .id = 8}, 500, other);
  EXPECT_EQ(again, once);
  EXPECT_EQ(agent->choose({.x = x0, .id = 7}).action, before);
  if (error == 0.0) {
    EXPECT_EQ(other, once);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Propensities, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });
INSTANTIATE_TEST_SUITE_P(Variants, Propensities, testing::Values("boltzmann,gumbel=true", "pi-ts,floor=0.2"),
                         [](const auto& agent) { return plain_name(agent.param); });

// Beta posteriors: P(a is the largest) by quadrature.
TEST(EstimatedPropensity, LiesWithinItsErrorOfTheExactOne) {
  BernoulliTs agent({}, small_setup());
  const std::vector<Event> events = random_events(12, 5);
  learn_all(agent, events);
  std::vector<Density> densities;
  for (Action a = 0; a < action_count; ++a) {
    double successes = 1.0, failures = 1.0;
    for (const Event& e : events) {
      if (e.action != a) continue;
      successes += e.reward;
      failures += 1.0 - e.reward;
    }
    densities.push_back(beta_density(successes, failures));
  }
  const std::vector<double> exact = probability_of_largest(densities, 0.0, 1.0);
  std::vector<float> p(action_count);
  const double error = agent.propensities({.x = x0}, 100000, p);
  EXPECT_LE(error, 0.5 / std::sqrt(100000.0));
  for (Action a = 0; a < action_count; ++a) {
    EXPECT_NEAR(p[a], exact[a], 5.0 * std::sqrt(exact[a] * (1.0 - exact[a]) / 100000.0)) << a;
  }
}

TEST(BanditPropensity, IsNoneExactOrEstimatedAsTheConfigSays) {
  const auto first = [](const std::string& spec, PropensityKind kind) {
    Bandit bandit(spec + ",initial_pulls=0", small_setup(), {.propensity = kind});
    return bandit.decide(x0);
  };
  EXPECT_FALSE(first("pi-ts", PropensityKind::none).propensity.has_value());
  EXPECT_TRUE(first("pi-ts", PropensityKind::exact).propensity.has_value());
  EXPECT_TRUE(first("lin-ts", PropensityKind::exact).propensity.has_value());
  EXPECT_FALSE(first("vi-ts", PropensityKind::exact).propensity.has_value());
  const Choice estimated = first("vi-ts", PropensityKind::estimated);
  EXPECT_GT(estimated.propensity.value(), 0.0F);
  EXPECT_GT(estimated.propensity_error, 0.0F);
  EXPECT_EQ(first("pi-ts", PropensityKind::estimated).propensity_error, 0.0F);
}

// Where all imagined decisions agree, the probability is 1 as far as they can tell: to within one in their number.
TEST(BanditPropensity, OfAnEstimateIsNeverSaidToBeExact) {
  Bandit bandit("bernoulli-ts", small_setup(), {.propensity = PropensityKind::estimated, .propensity_draws = 100});
  for (Event& e : random_events(400, 5)) bandit.learn(e.x, e.action, e.action == 2 ? 1.0F : 0.0F);
  const Choice choice = bandit.decide(x0);
  EXPECT_EQ(choice.action, 2U);
  EXPECT_EQ(choice.propensity, 1.0F);
  EXPECT_FLOAT_EQ(choice.propensity_error, 0.01F);
  std::vector<float> p(action_count);
  EXPECT_DOUBLE_EQ(bandit.probabilities(x0, p), 0.01);
}

TEST(BanditPropensity, FlooredDecisionsHaveTheStatedProbabilities) {
  Bandit bandit("pi-ts,particles=7,hidden=6", small_setup(), {.floor = 0.4});
  for (const Event& e : random_events(30, 5)) bandit.learn(e.x, e.action, e.reward);
  std::vector<float> p(action_count);
  EXPECT_EQ(bandit.probabilities(x0, p, {three}), 0.0);
  EXPECT_EQ(p[2], 0.0F);
  for (const Action a : {0U, 1U, 3U}) EXPECT_GE(p[a], 0.4F / 3.0F - 1e-6F);
  std::vector<double> counts(action_count, 0.0);
  for (int t = 0; t < 20000; ++t) {
    const Choice choice = bandit.decide(x0, {three});
    ASSERT_EQ(choice.propensity.value(), p[choice.action]);
    counts[choice.action] += 1.0;
  }
  expect_frequencies(counts, {p.begin(), p.end()});
}

TEST(BanditPropensity, OfAnEstimateWithAFloorIsTheFrequency) {
  Bandit bandit("lin-ts", small_setup(),
                {.floor = 0.2, .propensity = PropensityKind::estimated, .propensity_draws = 400});
  for (const Event& e : random_events(30, 5)) bandit.learn(e.x, e.action, e.reward);
  std::vector<float> p(action_count);
  EXPECT_GT(bandit.probabilities(x0, p), 0.0);
  std::vector<double> counts(action_count, 0.0);
  std::vector<double> stated(action_count, 0.0);
  for (int t = 0; t < 2000; ++t) {
    const Choice choice = bandit.decide(x0);
    counts[choice.action] += 1.0;
    stated[choice.action] += *choice.propensity;
  }
  for (Action a = 0; a < action_count; ++a) {
    if (counts[a] < 20.0) continue;
    const double share = counts[a] / 2000.0;
    // The estimate counts its own decision, which adds at most 1/401.
    EXPECT_NEAR(stated[a] / counts[a], share, 5.0 * std::sqrt(share * (1.0 - share) / 2000.0) + 0.003) << a;
  }
}

}  // namespace
}  // namespace pits::test
