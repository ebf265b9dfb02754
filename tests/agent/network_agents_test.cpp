// Agents that are π-TS's machinery in another setting: each against its limit case.
#include <gtest/gtest.h>

#include <cmath>

#include "agent/play.h"
#include "chi_square.h"
#include "experiment/expect_error.h"
#include "model/plain_model.h"
#include "pits/agent/particle/bootstrap_heads.h"
#include "pits/agent/presets.h"

namespace pits::test {
namespace {

PiTsConfig small(PiTsConfig c, int particles) {
  c.posterior.particles = particles;
  c.posterior.model.hidden = {6};
  c.posterior.batch = 16;
  c.posterior.training = {.every = 10, .steps = 5};
  return c;
}

NetworkConfig small_network() { return {.posterior = small(pi_ts_preset("neural-greedy", "showdown"), 1).posterior}; }
PiTsConfig small_greedy() { return small(pi_ts_preset("neural-greedy", "showdown"), 1); }
PiTsConfig small_ensemble(int particles) { return small(pi_ts_preset("ensemble", "showdown"), particles); }

PiTsConfig small_bootstrap(double keep) {
  PiTsConfig c = small(pi_ts_preset("bootstrap", "showdown"), 3);
  c.posterior.perturbation.keep = keep;
  return c;
}

PiTsConfig small_epsilon_greedy(double epsilon, double decay = 0.0) {
  PiTsConfig c = small(pi_ts_preset("epsilon-greedy", "showdown"), 1);
  c.exploration.floor = epsilon;
  c.exploration.floor_decay = decay;
  return c;
}

template <class A>
A taught(A agent, std::size_t events = 45) {
  learn_all(agent, random_events(events, 5));
  return agent;
}

std::vector<float> numbers(const Posterior& posterior) {
  const auto flat = posterior.particles().flat();
  return {flat.begin(), flat.end()};
}

std::vector<double> counts_of(const Agent& agent, std::span<const float> x) {
  std::vector<double> counts(action_count, 0.0);
  for (DecisionId id = 0; id < 20000; ++id) counts[agent.choose({.x = x, .id = id}).action] += 1.0;
  return counts;
}

TEST(NetworkPresets, AreTheShowdowns) {
  for (const char* name : {"showdown", "showdown-reset"}) {
    const PiTsConfig ensemble = pi_ts_preset("ensemble", name);
    const PiTsConfig bootstrap = pi_ts_preset("bootstrap", name);
    const PiTsConfig greedy = pi_ts_preset("neural-greedy", name);
    EXPECT_EQ(ensemble.posterior.optimizer.restart, std::string(name) == "showdown-reset");
    EXPECT_EQ(bootstrap.posterior.optimizer.restart, ensemble.posterior.optimizer.restart);
    EXPECT_EQ(greedy.posterior.optimizer.restart, ensemble.posterior.optimizer.restart);
    EXPECT_EQ(bootstrap.posterior.particles, 3);
    EXPECT_EQ(bootstrap.posterior.perturbation.keep, 0.95);
    EXPECT_EQ(greedy.posterior.particles, 1);
    EXPECT_EQ(greedy.posterior.training.every, 50);
    EXPECT_EQ(greedy.posterior.training.steps, 100);
    EXPECT_EQ(greedy.exploration.initial_pulls, 2);
    EXPECT_EQ(ensemble.posterior.flow.kind, FlowKind::ensemble);
    EXPECT_EQ(ensemble.posterior.particles, 20);
    EXPECT_EQ(pi_ts_preset("epsilon-greedy", name).exploration.floor, 0.05);
  }
}

// Deterministic after the initial pulls, and the plain loop's best action.
TEST(NeuralGreedy, PlaysTheNetworksBestActionWithCertainty) {
  const PiTsConfig config = small_greedy();
  const PiTs agent = taught(PiTs(config, small_setup()));
  const PlainModel plain{config.posterior.model, context_size, action_count};
  for (const Event& e : random_events(50, 9)) {
    const auto m = plain.predict(as_double(agent.posterior().particles().row(0)), as_double(e.x));
    const Decision decision = agent.choose({.x = e.x, .id = 3, .want_propensity = true});
    for (const double other : m) EXPECT_GE(m[decision.action], other - 1e-5);
    EXPECT_EQ(decision.propensity, 1.0F);
  }
}

TEST(Bootstrap, ThatKeepsEverythingIsTheEnsemble) {
  const PiTs all = taught(PiTs(small_bootstrap(1.0), small_setup()));
  const PiTs ensemble = taught(PiTs(small_ensemble(3), small_setup()));
  EXPECT_EQ(numbers(all.posterior()), numbers(ensemble.posterior()));
  EXPECT_EQ(all.posterior().history()[7].weights.size(), 3U);  // the marks are there, and all are 1
  const PiTs half = taught(PiTs(small_bootstrap(0.5), small_setup()));
  EXPECT_NE(numbers(half.posterior()), numbers(ensemble.posterior()));
}

TEST(Bootstrap, RefusesToKeepNothing) {
  EXPECT_THROW(PiTs(small_bootstrap(0.0), small_setup()), Error);
  EXPECT_THROW(PiTs(small_bootstrap(1.5), small_setup()), Error);
  EXPECT_THROW(BootstrapHeads({.keep = 0.0}, small_setup()), Error);
  EXPECT_THROW(BootstrapHeads({.heads = 0}, small_setup()), Error);
}

// What all heads together take is a whole number below 2³¹: 2³¹ − 1 over 10 is 214748364.7, over 9.5 226050910.2.
TEST(BootstrapHeads, RefusesMinibatchesAndCapacitiesBeyondAllNumbers) {
  const auto made = [](int batch, int capacity) {
    NetworkConfig network = small_network();
    network.posterior.batch = batch;
    network.posterior.memory.capacity = capacity;
    return BootstrapHeads({.network = network, .heads = 10, .keep = 0.95}, small_setup());
  };
  for (const int batch : {1000000000, 429496730, 214748365}) {  // times 10 modulo 2³²: 1410065408, 4, −2147483646
    expect_mentions(message_of([&] { made(batch, 0); }), {"batch", "at most 214748364", std::to_string(batch)});
  }
  for (const int capacity : {2000000000, 226050911}) {
    expect_mentions(message_of([&] { made(8, capacity); }),
                    {"capacity", "at most 226050910", std::to_string(capacity)});
  }
  EXPECT_NO_THROW(made(214748364, 226050910));
}

TEST(BootstrapHeads, OneHeadThatKeepsEverythingIsGreedy) {
  const BootstrapHeads one =
      taught(BootstrapHeads({.network = small_network(), .heads = 1, .keep = 1.0}, small_setup()));
  const PiTs greedy = taught(PiTs(small_greedy(), small_setup()));
  EXPECT_EQ(numbers(one.network()), numbers(greedy.posterior()));
  EXPECT_EQ(choices(one, 200), choices(greedy, 200));
}

// Output h·K + a of the one network is what head h predicts for action a: the probability of an action is the share of
// heads that prefer it, and decisions have these frequencies.
TEST(BootstrapHeads, AHeadIsItsOutputsOfTheNetwork) {
  const BootstrapHeadsConfig config{.network = small_network(), .heads = 3, .keep = 0.7};
  const BootstrapHeads agent = taught(BootstrapHeads(config, small_setup()));
  const PlainModel whole{config.network.posterior.model, context_size, 3 * action_count};
  int mixed = 0;
  for (const Event& e : random_events(20, 9)) {
    const auto all = whole.predict(as_double(agent.network().particles().row(0)), as_double(e.x));
    std::vector<float> share(action_count, 0.0F);
    for (std::size_t h = 0; h < 3; ++h) {
      const auto own = all.begin() + static_cast<std::ptrdiff_t>(h * action_count);
      share[static_cast<std::size_t>(std::max_element(own, own + action_count) - own)] += 1.0F / 3.0F;
    }
    const std::vector<float> p = probabilities(agent, {.x = e.x});
    for (Action a = 0; a < action_count; ++a) EXPECT_NEAR(p[a], share[a], 1e-6F);
    mixed += *std::ranges::max_element(share) < 0.9F ? 1 : 0;
    if (mixed == 1) expect_frequencies(counts_of(agent, e.x), {p.begin(), p.end()});
  }
  EXPECT_GT(mixed, 0) << "the heads agree everywhere, so this shows nothing";
}

// 400 events, three heads: each pair is kept with probability 0.7, sd of the count √(1200·0.21).
TEST(BootstrapHeads, EachHeadKeepsItsShareOfTheEvents) {
  NetworkConfig network = small_network();
  network.posterior.training.every = 1000;
  const BootstrapHeads agent =
      taught(BootstrapHeads({.network = network, .heads = 3, .keep = 0.7}, small_setup()), 400);
  EXPECT_NEAR(static_cast<double>(agent.network().history().size()), 840.0, 4.5 * std::sqrt(1200.0 * 0.21));
}

TEST(EpsilonGreedy, WithoutEpsilonIsGreedy) {
  const PiTs zero = taught(PiTs(small_epsilon_greedy(0.0), small_setup()));
  EXPECT_EQ(choices(zero, 300), choices(taught(PiTs(small_greedy(), small_setup())), 300));
}

TEST(EpsilonGreedy, WithEpsilonOneIsUniform) {
  const PiTs one = taught(PiTs(small_epsilon_greedy(1.0), small_setup()));
  expect_frequencies(counts_of(one, random_events(1, 4)[0].x), std::vector<double>(action_count, 0.25));
}

// After 45 rounds: 0.8/(1 + 0.2·45) = 0.08, of which each action has a quarter, and the best the rest.
TEST(EpsilonGreedy, EpsilonDecaysWithTheRounds) {
  const PiTs agent = taught(PiTs(small_epsilon_greedy(0.8, 0.2), small_setup()));
  const std::vector<float> x = random_events(1, 4)[0].x;
  const Action best = taught(PiTs(small_greedy(), small_setup())).choose({.x = x}).action;
  std::vector<double> p(action_count, 0.02);
  p[best] = 0.94;
  expect_frequencies(counts_of(agent, x), p);
  for (DecisionId id = 0; id < 200; ++id) {
    const Decision decision = agent.choose({.x = x, .id = id, .want_propensity = true});
    EXPECT_NEAR(decision.propensity.value(), p[decision.action], 1e-6);
  }
}

TEST(EpsilonGreedy, RefusesBadNumbers) {
  EXPECT_THROW(PiTs(small_epsilon_greedy(1.5), small_setup()), Error);
  EXPECT_THROW(PiTs(small_epsilon_greedy(0.1, -1.0), small_setup()), Error);
  PiTsConfig never = small_epsilon_greedy(0.1);
  never.posterior.training.every = 0;
  EXPECT_THROW(PiTs(never, small_setup()), Error);
}

}  // namespace
}  // namespace pits::test
