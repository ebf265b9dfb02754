// Agents that are π-TS's machinery in another setting: each against its limit case.
#include <gtest/gtest.h>

#include <cmath>

#include "agent/play.h"
#include "chi_square.h"
#include "experiment/expect_error.h"
#include "model/plain_model.h"
#include "pits/agent/bootstrap.h"
#include "pits/agent/bootstrap_heads.h"
#include "pits/agent/ensemble.h"
#include "pits/agent/ensemble_sampling.h"
#include "pits/agent/epsilon_greedy.h"
#include "pits/agent/neural_greedy.h"
#include "pits/agent/weighted_bootstrap.h"

namespace pits::test {
namespace {

NetworkConfig small_network() {
  NetworkConfig c;
  c.network.model.hidden = {6};
  c.network.batch = 16;
  c.train_every = 10;
  c.train_steps = 5;
  return c;
}

PiTsConfig small_particles(int particles) {
  PiTsConfig c = as_particles(small_network());
  c.posterior.particles = particles;
  return c;
}

template <class A>
A taught(A agent, std::size_t events = 45) {
  learn_all(agent, random_events(events, 5));
  return agent;
}

std::vector<float> numbers(const ParticlePosterior& posterior) {
  const auto flat = posterior.particles().flat();
  return {flat.begin(), flat.end()};
}

TEST(NetworkPresets, AreTheShowdowns) {
  for (const char* name : {"showdown", "showdown-reset"}) {
    const PiTsConfig ensemble = ensemble_preset(name);
    const BootstrapConfig bootstrap = bootstrap_preset(name);
    const NetworkConfig greedy = network_preset(name);
    EXPECT_EQ(ensemble.posterior.optimizer.restart, std::string(name) == "showdown-reset");
    EXPECT_EQ(bootstrap.networks.posterior.optimizer.restart, ensemble.posterior.optimizer.restart);
    EXPECT_EQ(greedy.network.optimizer.restart, ensemble.posterior.optimizer.restart);
    EXPECT_EQ(bootstrap.networks.posterior.particles, 3);
    EXPECT_EQ(bootstrap.keep, 0.95);
    EXPECT_EQ(greedy.network.particles, 1);
    EXPECT_EQ(greedy.train_every, 50);
    EXPECT_EQ(greedy.train_steps, 100);
    EXPECT_EQ(greedy.initial_pulls, 2);
    EXPECT_EQ(ensemble.posterior.flow.kind, FlowKind::ensemble);
  }
}

// Deterministic after the initial pulls, and the plain loop's best action.
TEST(NeuralGreedy, PlaysTheNetworksBestActionWithCertainty) {
  const NetworkConfig config = small_network();
  const NeuralGreedy agent = taught(NeuralGreedy(config, small_setup()));
  const PlainModel plain{config.network.model, context_size, action_count};
  for (const Event& e : random_events(50, 9)) {
    const auto m = plain.predict(as_double(agent.posterior().particles().row(0)), as_double(e.x));
    const Decision decision = agent.choose({.x = e.x, .id = 3, .want_propensity = true});
    for (const double other : m) EXPECT_GE(m[decision.action], other - 1e-5);
    EXPECT_EQ(decision.propensity, 1.0F);
  }
}

TEST(Bootstrap, ThatKeepsEverythingIsTheEnsemble) {
  const Bootstrap all = taught(Bootstrap({.networks = small_particles(3), .keep = 1.0}, small_setup()));
  const PiTs ensemble = taught(PiTs(small_particles(3), small_setup()));
  EXPECT_EQ(numbers(all.posterior()), numbers(ensemble.posterior()));
  EXPECT_EQ(all.posterior().history()[7].weights.size(), 3U);  // the marks are there, and all are 1
  const Bootstrap half = taught(Bootstrap({.networks = small_particles(3), .keep = 0.5}, small_setup()));
  EXPECT_NE(numbers(half.posterior()), numbers(ensemble.posterior()));
}

TEST(Bootstrap, RefusesToKeepNothing) {
  EXPECT_THROW(Bootstrap({.keep = 0.0}, small_setup()), Error);
  EXPECT_THROW(Bootstrap({.keep = 1.5}, small_setup()), Error);
  EXPECT_THROW(BootstrapHeads({.keep = 0.0}, small_setup()), Error);
  EXPECT_THROW(BootstrapHeads({.heads = 0}, small_setup()), Error);
}

// What all heads together take is a whole number below 2³¹: 2³¹ − 1 over 10 is 214748364.7, over 9.5 226050910.2.
TEST(BootstrapHeads, RefusesMinibatchesAndCapacitiesBeyondAllNumbers) {
  const auto made = [](int batch, int capacity) {
    NetworkConfig network = small_network();
    network.network.batch = batch;
    network.network.capacity = capacity;
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
  const NeuralGreedy greedy = taught(NeuralGreedy(small_network(), small_setup()));
  EXPECT_EQ(numbers(one.network()), numbers(greedy.posterior()));
  EXPECT_EQ(choices(one, 200), choices(greedy, 200));
}

// Output h·K + a of the one network is action a of member h, which stays as the last training left it.
TEST(BootstrapHeads, AMemberIsTheBodyWithItsHead) {
  const BootstrapHeadsConfig config{.network = small_network(), .heads = 3, .keep = 0.7};
  const BootstrapHeads agent = taught(BootstrapHeads(config, small_setup()));
  const ModelConfig model = config.network.network.model;
  const PlainModel whole{model, context_size, 3 * action_count};
  const PlainModel member{model, context_size, action_count};
  for (const Event& e : random_events(20, 9)) {
    const auto all = whole.predict(as_double(agent.network().particles().row(0)), as_double(e.x));
    for (std::size_t h = 0; h < 3; ++h) {
      const auto own = member.predict(as_double(agent.members().row(h)), as_double(e.x));
      for (std::size_t a = 0; a < action_count; ++a) EXPECT_DOUBLE_EQ(own[a], all[h * action_count + a]);
    }
  }
}

// 400 events, three heads: each pair is kept with probability 0.7, sd of the count √(1200·0.21).
TEST(BootstrapHeads, EachHeadKeepsItsShareOfTheEvents) {
  NetworkConfig network = small_network();
  network.train_every = 1000;
  const BootstrapHeads agent =
      taught(BootstrapHeads({.network = network, .heads = 3, .keep = 0.7}, small_setup()), 400);
  EXPECT_NEAR(static_cast<double>(agent.network().history().size()), 840.0, 4.5 * std::sqrt(1200.0 * 0.21));
}

TEST(WeightedBootstrap, WeighsEveryObservationForEveryNetwork) {
  PiTsConfig config = weighted_bootstrap_preset("showdown");
  EXPECT_EQ(config.posterior.perturbation.weights, MarkWeights::exponential);
  config.posterior.model.hidden = {4};
  const PiTs agent = taught(PiTs(config, small_setup()), 20);
  EXPECT_EQ(agent.posterior().history()[19].weights.size(), 20U);
}

TEST(EnsembleSampling, PerturbsRewardsAndAnchorsPriors) {
  const PiTsConfig config = ensemble_sampling_preset("");
  EXPECT_TRUE(config.posterior.perturbation.rewards);
  EXPECT_TRUE(config.posterior.perturbation.anchors);
  EXPECT_EQ(config.posterior.flow.kind, FlowKind::ensemble);
  EXPECT_EQ(config.posterior.model.init, Init::prior);
  EXPECT_EQ(config.posterior.scale, LikelihoodScale::data);
}

TEST(EpsilonGreedy, WithoutEpsilonIsGreedy) {
  const EpsilonGreedy zero = taught(EpsilonGreedy({.network = small_network(), .epsilon = 0.0}, small_setup()));
  EXPECT_EQ(choices(zero, 300), choices(taught(NeuralGreedy(small_network(), small_setup())), 300));
}

std::vector<double> counts_of(const Policy& agent, std::span<const float> x) {
  std::vector<double> counts(action_count, 0.0);
  for (DecisionId id = 0; id < 20000; ++id) counts[agent.choose({.x = x, .id = id}).action] += 1.0;
  return counts;
}

TEST(EpsilonGreedy, WithEpsilonOneIsUniform) {
  const EpsilonGreedy one = taught(EpsilonGreedy({.network = small_network(), .epsilon = 1.0}, small_setup()));
  expect_frequencies(counts_of(one, random_events(1, 4)[0].x), std::vector<double>(action_count, 0.25));
}

// After 45 rounds: 0.8/(1 + 0.2·45) = 0.08, of which each action has a quarter, and the best the rest.
TEST(EpsilonGreedy, EpsilonDecaysWithTheRounds) {
  const EpsilonGreedyConfig config{.network = small_network(), .epsilon = 0.8, .decay = 0.2};
  const EpsilonGreedy agent = taught(EpsilonGreedy(config, small_setup()));
  const std::vector<float> x = random_events(1, 4)[0].x;
  const Action best = taught(NeuralGreedy(small_network(), small_setup())).choose({.x = x}).action;
  std::vector<double> p(action_count, 0.02);
  p[best] = 0.94;
  expect_frequencies(counts_of(agent, x), p);
  for (DecisionId id = 0; id < 200; ++id) {
    const Decision decision = agent.choose({.x = x, .id = id, .want_propensity = true});
    EXPECT_NEAR(decision.propensity.value(), p[decision.action], 1e-6);
  }
}

TEST(EpsilonGreedy, RefusesBadNumbers) {
  EXPECT_THROW(EpsilonGreedy({.epsilon = 1.5}, small_setup()), Error);
  EXPECT_THROW(EpsilonGreedy({.decay = -1.0}, small_setup()), Error);
  EXPECT_THROW(EpsilonGreedy({.network = {.train_every = 0}}, small_setup()), Error);
}

}  // namespace
}  // namespace pits::test
