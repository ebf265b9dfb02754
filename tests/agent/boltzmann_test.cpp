#include "pits/agent/network/boltzmann.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agent/choice_probability.h"
#include "agent/play.h"
#include "chi_square.h"
#include "model/plain_model.h"

namespace pits::test {
namespace {

BoltzmannConfig small_config(double temperature) {
  BoltzmannConfig c{.temperature = temperature};
  c.network.posterior.model.hidden = {6};
  c.network.posterior.batch = 16;
  c.network.posterior.training.every = 10;
  c.network.posterior.training.steps = 5;
  return c;
}

// `rounds` events in which the actions take turns.
Boltzmann taught(const BoltzmannConfig& config, std::size_t rounds) {
  Boltzmann agent(config, small_setup());
  std::vector<Event> events = random_events(rounds, 5);
  for (std::size_t t = 0; t < rounds; ++t) events[t].action = static_cast<Action>(t % action_count);
  learn_all(agent, events);
  return agent;
}

std::vector<double> values_of(const Boltzmann& agent, const BoltzmannConfig& c, std::span<const float> x) {
  const PlainModel plain{c.network.posterior.model, context_size, action_count};
  return plain.predict(as_double(agent.posterior().particles().row(0)), as_double(x));
}

// exp(v/T) over its sum, by the plain loop; actions with mask 0 have none.
std::vector<double> plain_softmax(std::vector<double> v, double temperature, const std::vector<std::uint8_t>& mask) {
  double total = 0.0;
  for (std::size_t a = 0; a < v.size(); ++a) total += v[a] = mask[a] * std::exp(v[a] / temperature);
  for (double& p : v) p /= total;
  return v;
}

std::vector<double> counts_of(const Agent& agent, const Query& base) {
  std::vector<double> counts(action_count, 0.0);
  for (DecisionId id = 0; id < 20000; ++id) {
    counts[agent.choose({.x = base.x, .actions = base.actions, .id = id}).action] += 1.0;
  }
  return counts;
}

const std::vector<std::uint8_t> every(action_count, 1);

TEST(Boltzmann, PlaysBySoftmaxAndSaysSo) {
  const BoltzmannConfig config = small_config(0.3);
  const Boltzmann agent = taught(config, 44);
  for (const std::vector<std::uint8_t>& mask : {every, {1, 0, 1, 1}}) {
    const std::vector<float> x = random_events(1, 4)[0].x;
    const auto p = plain_softmax(values_of(agent, config, x), 0.3, mask);
    expect_frequencies(counts_of(agent, {.x = x, .actions = {mask}}), p);
    for (DecisionId id = 0; id < 50; ++id) {
      const Decision decision = agent.choose({.x = x, .actions = {mask}, .id = id, .want_propensity = true});
      EXPECT_NEAR(decision.propensity.value(), p[decision.action], 1e-5);
    }
  }
}

TEST(Boltzmann, IsGreedyInTheColdAndUniformInTheHeat) {
  const std::vector<float> x = random_events(1, 4)[0].x;
  const Boltzmann cold = taught(small_config(1e-6), 44);
  const auto v = values_of(cold, small_config(1e-6), x);
  const auto top = static_cast<Action>(std::ranges::max_element(v) - v.begin());
  std::vector<double> certain(action_count, 0.0);
  certain[top] = 1.0;
  expect_frequencies(counts_of(cold, {.x = x}), certain);
  expect_frequencies(counts_of(taught(small_config(1e6), 44), {.x = x}), std::vector<double>(action_count, 0.25));
}

TEST(Softmax, DoesNotOverflow) {
  const std::vector<double> values = {1e6, 0.0, -1e6};
  std::vector<double> p(3);
  softmax(values, 1.0, {}, p);
  EXPECT_EQ(p, (std::vector<double>{1.0, 0.0, 0.0}));
}

// The largest of v_a + β·Gumbel is action a with probability exp(v_a/β) over the sum: with 11 pulls of every action,
// Gumbel exploration is the softmax at temperature C/√11.
TEST(Gumbel, WithEqualPullsIsASoftmax) {
  BoltzmannConfig config = small_config(0.1);
  config.gumbel = true;
  config.gumbel_scale = 1.3;
  const Boltzmann agent = taught(config, 44);
  const std::vector<float> x = random_events(1, 4)[0].x;
  const auto p = plain_softmax(values_of(agent, config, x), 1.3 / std::sqrt(11.0), every);
  expect_frequencies(counts_of(agent, {.x = x}), p);
  EXPECT_FALSE(agent.choose({.x = x, .want_propensity = true}).propensity.has_value());
}

Density gumbel_density(double centre, double scale) {
  return [=](double x) {
    const double z = (x - centre) / scale;
    return std::exp(-z - std::exp(-z)) / scale;
  };
}

TEST(Gumbel, NoiseOfAnActionFallsWithItsPulls) {
  BoltzmannConfig config = small_config(0.1);
  config.gumbel = true;
  Boltzmann agent(config, small_setup());
  std::vector<Event> events = random_events(60, 5);
  std::vector<double> pulls(action_count, 0.0);
  for (std::size_t t = 0; t < events.size(); ++t) {
    events[t].action = t < 40 ? 0 : static_cast<Action>(1 + t % 3);
    pulls[events[t].action] += 1.0;
  }
  learn_all(agent, events);
  const std::vector<float> x = random_events(1, 4)[0].x;
  const auto v = values_of(agent, config, x);
  std::vector<Density> densities;
  for (std::size_t a = 0; a < action_count; ++a) densities.push_back(gumbel_density(v[a], 1.0 / std::sqrt(pulls[a])));
  expect_frequencies(counts_of(agent, {.x = x}), probability_of_largest(densities, -5.0, 15.0));
}

TEST(Gumbel, PlaysAnActionThatWasNeverPulledFirst) {
  BoltzmannConfig config = small_config(0.1);
  config.gumbel = true;
  Boltzmann agent(config, small_setup());
  std::vector<Event> events = random_events(20, 5);
  for (std::size_t t = 0; t < events.size(); ++t) events[t].action = static_cast<Action>(t % 2);
  learn_all(agent, events);
  EXPECT_EQ(agent.choose({.x = events[0].x}).action, 2U);
}

TEST(Boltzmann, RefusesBadNumbers) {
  EXPECT_THROW(Boltzmann({.temperature = 0.0}, small_setup()), Error);
  EXPECT_THROW(Boltzmann({.gumbel_scale = -1.0}, small_setup()), Error);
}

}  // namespace
}  // namespace pits::test
