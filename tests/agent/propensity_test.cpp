// The propensities of pi-ts: honest probabilities of its own decisions.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "agent/play.h"
#include "chi_square.h"
#include "model/plain_model.h"
#include "pits/agent/particle/pi_ts.h"

namespace pits::test {
namespace {

PiTsConfig small_config(double floor, int particles = 7) {
  PiTsConfig c;
  c.posterior.particles = particles;
  c.posterior.model.hidden = {6};
  c.posterior.batch = 8;
  c.posterior.training = {.every = 7, .steps = 2};
  c.exploration.floor = floor;
  return c;
}

PiTs taught(const PiTsConfig& config, std::size_t events) {
  PiTs agent(config, small_setup(3));
  learn_all(agent, random_events(events, 5));
  return agent;
}

// The share of particles whose best allowed action is a, by the plain loop of tests/model.
std::vector<double> plain_votes(const PiTs& agent, const ModelConfig& model, const Query& query) {
  const PlainModel plain{model, context_size, action_count};
  const ParticlesView theta = agent.posterior().particles();
  std::vector<double> share(action_count, 0.0);
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    const auto m = plain.predict(as_double(theta.row(i)), as_double(query.x));
    std::size_t best = action_count;
    for (std::size_t a = 0; a < action_count; ++a) {
      if (query.actions.admits(static_cast<Action>(a)) && (best == action_count || m[a] > m[best])) best = a;
    }
    share[best] += 1.0 / static_cast<double>(theta.rows());
  }
  return share;
}

RC_GTEST_PROP(Propensity, IsTheShareOfParticlesMixedWithTheFloor, (std::uint32_t seed)) {
  const double floor = *rc::gen::element(0.0, 0.05, 0.5, 1.0);
  const PiTsConfig config = small_config(floor);
  const PiTs agent = taught(config, 8 + seed % 20);
  std::vector<std::uint8_t> mask(action_count);
  for (auto& m : mask) m = *rc::gen::inRange<std::uint8_t>(0, 2);
  mask[seed % action_count] = 1;
  const std::vector<Event> asked = random_events(1, seed);
  const Query query{.x = asked[0].x, .actions = {mask}};
  const std::vector<float> p = probabilities(agent, query);
  const std::vector<double> share = plain_votes(agent, config.posterior.model, query);
  const double allowed = std::accumulate(mask.begin(), mask.end(), 0.0);
  for (std::size_t a = 0; a < action_count; ++a) {
    RC_ASSERT(std::abs(p[a] - mask[a] * ((1.0 - floor) * share[a] + floor / allowed)) < 1e-6);
  }
  RC_ASSERT(std::abs(std::accumulate(p.begin(), p.end(), 0.0) - 1.0) < 1e-6);
}

RC_GTEST_PROP(Propensity, OfADecisionIsTheProbabilityOfItsAction, (std::uint32_t seed)) {
  const PiTs agent = taught(small_config(*rc::gen::element(0.0, 0.3)), seed % 30);  // forced pulls included
  const std::vector<Event> asked = random_events(1, seed);
  for (DecisionId id = 0; id < 20; ++id) {
    const Query query{.x = asked[0].x, .id = id, .want_propensity = true};
    const Decision decision = agent.choose(query);
    RC_ASSERT(decision.propensity.value() == probabilities(agent, query)[decision.action]);
    RC_ASSERT(decision.propensity.value() > 0.0F);
  }
}

void expect_honest(const PiTs& agent, const Query& base) {
  const std::vector<float> p = probabilities(agent, base);
  std::vector<double> counts(action_count, 0.0);
  for (DecisionId id = 0; id < 20000; ++id) {
    Query query = base;
    query.id = id;
    counts[agent.choose(query).action] += 1.0;
  }
  expect_frequencies(counts, {p.begin(), p.end()});
}

TEST(Propensity, IsTheFrequencyOfTheAction) {
  const std::vector<std::uint8_t> mask = {1, 1, 0, 1};
  for (const double floor : {0.0, 0.2}) {
    const PiTs agent = taught(small_config(floor, 25), 12);
    for (const Event& asked : random_events(3, 40)) {
      expect_honest(agent, {.x = asked.x});
      expect_honest(agent, {.x = asked.x, .actions = {mask}});
    }
  }
}

// The frequencies above say something where two actions at least are possible: so it is in each of these contexts.
TEST(Propensity, ParticlesDisagree) {
  const PiTs agent = taught(small_config(0.0, 25), 12);
  for (const Event& asked : random_events(3, 40)) {
    const std::vector<float> p = probabilities(agent, {.x = asked.x});
    EXPECT_GT(std::ranges::count_if(p, [](float value) { return value > 0.0F; }), 1);
  }
}

TEST(Propensity, ForcedPullsAreCertainAndRoundRobin) {
  PiTsConfig config = small_config(0.4);
  config.exploration.initial_pulls = 3;
  PiTs agent(config, small_setup(3));
  for (const Event& e : random_events(3 * action_count, 5)) {
    const DecisionId id = agent.posterior().history().seen();
    const Action turn = static_cast<Action>(id % action_count);
    const Query query{.x = e.x, .id = id, .want_propensity = true};
    const Decision decision = agent.choose(query);
    EXPECT_EQ(decision.action, turn);
    EXPECT_EQ(decision.propensity, 1.0F);
    std::vector<float> certain(action_count, 0.0F);
    certain[turn] = 1.0F;
    EXPECT_EQ(probabilities(agent, query), certain);
    const Feedback feedback = e.feedback();
    agent.learn({&feedback, 1});
  }
  const Decision next = agent.choose({.x = random_events(1, 5)[0].x, .want_propensity = true});
  EXPECT_LT(next.propensity.value(), 1.0F);
}

// The floor that `pi-ts,floor=0.1` asks for holds while an action is cold; pulls by turns are as published.
TEST(Propensity, OfAColdStartHasTheAgentsOwnFloor) {
  const std::vector<float> x = {0.0F};
  const auto cold_one_of_three = [&](const std::string& spec) {
    const auto agent = small_agent(spec, {.context_size = 1, .actions = 3, .seed = 6});
    for (DecisionId id = 0; id < 4; ++id) {
      const Feedback event{.x = x, .action = static_cast<Action>(id % 2), .reward = 1.0F, .id = id};
      agent->learn({&event, 1});
    }
    return probabilities(*agent, {.x = x, .id = 5});
  };
  const std::vector<float> p = cold_one_of_three("pi-ts,floor=0.1");
  EXPECT_FLOAT_EQ(p[0], 0.1F / 3.0F);
  EXPECT_FLOAT_EQ(p[1], 0.1F / 3.0F);
  EXPECT_FLOAT_EQ(p[2], 0.9F + 0.1F / 3.0F);
  EXPECT_EQ(cold_one_of_three("pi-ts,floor=0.1,cold_start=round-robin"), (std::vector{0.0F, 0.0F, 1.0F}));
}

}  // namespace
}  // namespace pits::test
