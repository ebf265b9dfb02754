// π-TS with exact last layers, in units that the data give.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "agent/play.h"
#include "pits/agent/linear/lin_ts.h"
#include "pits/agent/presets.h"

namespace pits::test {
namespace {

PiTsConfig small_exact() {
  PiTsConfig c = pi_ts_preset("pi-ts", "exact");
  c.posterior.particles = 4;
  c.posterior.model.hidden = {6};
  c.posterior.batch = 16;
  c.posterior.training.steps = 3;
  return c;
}

struct Change {
  float context = 1.0F, reward = 1.0F;  // factors
};

struct Played {
  std::vector<Action> actions;
  std::vector<float> particles;  // at the end
};

// 120 rounds of a problem whose contexts and rewards are stretched.
Played play(const PiTsConfig& config, const Change& change) {
  const AgentSetup setup{.context_size = 3, .actions = 3, .seed = 8};
  PiTs agent(config, setup);
  Played played;
  for (std::uint32_t t = 0; t < 120; ++t) {
    Stream stream({.seed = 1, .purpose = Purpose::environment_context, .step = t});
    std::vector<float> x(3);
    for (float& v : x) v = static_cast<float>(stream.normal());
    const std::vector<float> rewards = {x[0], -x[0] + 0.5F * x[1], 0.3F + x[2] * x[1]};
    for (float& v : x) v *= change.context;
    const Action a = agent.choose({.x = x, .id = t}).action;
    const Feedback event{.x = x, .action = a, .reward = change.reward * rewards[a], .id = t};
    agent.learn({&event, 1});
    played.actions.push_back(a);
  }
  const std::span<const float> theta = agent.posterior().particles().flat();
  played.particles.assign(theta.begin(), theta.end());
  return played;
}

std::vector<Action> actions(const PiTsConfig& config, const Change& change) { return play(config, change).actions; }

// Powers of two change exponents only, so decisions and networks are the same to the bit; with a noise of their own so
// small that what the last layers find counts.
TEST(PiTsExact, TheUnitsOfContextsAndRewardsDoNotMatter) {
  PiTsConfig c = small_exact();
  c.posterior.model.noise_sd = 0.01;
  const Played plain = play(c, {});
  for (const Change& change : {Change{.context = 1024.0F}, Change{.reward = 1.0F / 4096.0F}, Change{.reward = 4096.0F},
                               Change{.context = 1.0F / 1024.0F, .reward = 64.0F}}) {
    const Played changed = play(c, change);
    EXPECT_EQ(changed.actions, plain.actions);
    EXPECT_EQ(changed.particles, plain.particles);
  }
  PiTsConfig raw = small_exact();
  raw.posterior.units = UnitsKind::raw;
  EXPECT_NE(actions(raw, {.reward = 1.0F / 4096.0F}), actions(raw, {}));
}

TEST(PiTsExact, NetworksTrainWithTheNoiseOfTheLastLayersWhereThatIsLarger) {
  const auto with = [](double noise_sd, bool train_noise) {
    PiTsConfig c = small_exact();
    c.posterior.model.noise_sd = noise_sd;
    c.posterior.last_layer.train_noise = train_noise;
    return play(c, {}).particles;
  };
  EXPECT_EQ(with(100.0, true), with(100.0, false));
  EXPECT_NE(with(0.01, true), with(0.01, false));
}

std::unique_ptr<Agent> by_name(const std::string& spec) {
  return find_recipe(agent_catalogue(), "agent", parse_spec(spec))->make({.context_size = 3, .actions = 3, .seed = 8});
}

// Rewards are lines without noise, far from 0 and wide; their scale is not in doubt here. After 300 rounds σ² of the
// regressions is about b0/(a0 + 300/2) = 0.3/152, in units of the rewards' standard deviation of about 100, so that σ
// is below 5. An action that was played n times has at a context within three standard deviations a mean of variance at
// most (1 + 3·3²)σ²/n, and draws lie κ = 0.3 of its root away: with n = 30 or more a standard deviation below 1.5. So
// none is off by 20.
TEST(LinTsAuto, FindsTheHighestLineInAnyUnits) {
  const std::unique_ptr<Agent> agent = by_name("lin-ts:auto,scale_prior=0");
  int far_off = 0;
  for (std::uint32_t t = 0; t < 400; ++t) {
    Stream stream({.seed = 2, .purpose = Purpose::environment_context, .step = t});
    std::vector<float> x(3);
    for (float& v : x) v = 50.0F + 0.1F * static_cast<float>(stream.normal());
    const float u = 10.0F * (x[0] - 50.0F), v = 10.0F * (x[1] - 50.0F);
    const std::vector<float> rewards = {4000.0F + 100.0F * u, 4000.0F - 100.0F * u, 4000.0F + 100.0F * v};
    const Action a = agent->choose({.x = x, .id = t}).action;
    const Feedback event{.x = x, .action = a, .reward = rewards[a], .id = t};
    agent->learn({&event, 1});
    if (t >= 300 && rewards[a] < *std::ranges::max_element(rewards) - 20.0F) ++far_off;
  }
  EXPECT_EQ(far_off, 0);  // of 100
}

// The exact layer is the only one: particles stay where they were drawn, and what trains them changes no decision.
TEST(LinTsAuto, HasNothingToTrain) {
  PiTsConfig c = pi_ts_preset("lin-ts", "auto");
  const Played played = play(c, {});
  const PiTs fresh(c, {.context_size = 3, .actions = 3, .seed = 8});
  EXPECT_TRUE(std::ranges::equal(played.particles, fresh.posterior().particles().flat()));
  c.posterior.training.steps = 7;
  c.posterior.flow.kind = FlowKind::svgd;
  EXPECT_EQ(actions(c, {}), played.actions);
  EXPECT_EQ(training_steps(c.posterior), 0);
  EXPECT_EQ(training_steps(small_exact().posterior), 3);
  c.posterior.last_layer.kind = LastLayerKind::trained;
  EXPECT_EQ(training_steps(c.posterior), 7);
}

TEST(LinTsAuto, TheDefaultIsThePublishedOne) {
  EXPECT_NE(dynamic_cast<LinTs*>(by_name("lin-ts").get()), nullptr);
  EXPECT_NE(dynamic_cast<LinTs*>(by_name("lin-ts:showdown,lambda=0.5").get()), nullptr);
  EXPECT_NE(dynamic_cast<PiTs*>(by_name("lin-ts:auto,posterior_scale=1").get()), nullptr);
}

TEST(PiTsExact, TrainsDenselyEarlyAndSparselyLate) {
  const auto interval = [](const PiTsConfig& config, std::uint64_t t) {
    return config.posterior.training.interval(t, config.posterior.memory);
  };
  const PiTsConfig c = pi_ts_preset("pi-ts", "exact");
  EXPECT_EQ(interval(c, 1), 4U);
  EXPECT_EQ(interval(c, 80), 8U);
  EXPECT_EQ(interval(c, 500), 20U);
  EXPECT_EQ(interval(c, 10000), 200U);
  EXPECT_EQ(interval(pi_ts_preset("pi-ts", "released"), 3), 50U);
  PiTsConfig forgets = c;
  forgets.posterior.memory.capacity = 2000;
  EXPECT_EQ(interval(forgets, 100000), 40U);
  forgets.posterior.memory.capacity = 0;
  forgets.posterior.memory.discount = 0.9995;
  EXPECT_EQ(interval(forgets, 100000), 40U);
  EXPECT_EQ(interval(forgets, 1500), 30U);
}

TEST(PiTsExact, PropensitiesAreSharesOfParticles) {
  const AgentSetup setup{.context_size = 2, .actions = 3, .seed = 8};
  PiTs agent(small_exact(), setup);
  Stream stream({.seed = 5, .purpose = Purpose::environment_context});
  for (std::uint64_t t = 0; t < 60; ++t) {
    const std::vector<float> x = {static_cast<float>(stream.normal()), static_cast<float>(stream.normal())};
    const Query query{.x = x, .id = t, .want_propensity = true};
    const Decision decision = agent.choose(query);
    if (t >= 6) {  // no forced pull
      const std::vector<float> p = probabilities(agent, query);
      EXPECT_EQ(decision.propensity, p[decision.action]);
      for (const float share : p) EXPECT_EQ(4.0F * share, std::round(4.0F * share));
      std::vector<double> rewards(3);
      std::vector<float> votes(3);
      for (std::uint32_t i = 0; i < 4; ++i) {
        ASSERT_TRUE(agent.draw_rewards(x, i, rewards));
        votes[static_cast<std::size_t>(std::ranges::max_element(rewards) - rewards.begin())] += 0.25F;
      }
      EXPECT_EQ(votes, p);
    }
    const Feedback event{.x = x, .action = decision.action, .reward = x[0] * static_cast<float>(decision.action)};
    agent.learn({&event, 1});
  }
}

TEST(PiTsExact, WhatDoesNotFitIsSaid) {
  const AgentSetup setup{.context_size = 2, .actions = 2};
  PiTsConfig bernoulli = small_exact();
  bernoulli.posterior.model.kind = ModelKind::logistic;
  bernoulli.posterior.units = UnitsKind::raw;
  EXPECT_THROW(PiTs(bernoulli, setup), Error);
  bernoulli.posterior.units = UnitsKind::standardised;
  bernoulli.posterior.last_layer.kind = LastLayerKind::trained;
  EXPECT_THROW(PiTs(bernoulli, setup), Error);
  PiTsConfig own_data = small_exact();
  own_data.posterior.perturbation.weights = BootstrapWeights::exponential;
  EXPECT_THROW(PiTs(own_data, setup), Error);
}

}  // namespace
}  // namespace pits::test
