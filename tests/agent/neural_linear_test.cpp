#include "pits/agent/presets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agent/choice_probability.h"
#include "agent/play.h"
#include "chi_square.h"
#include "model/plain_model.h"
#include "posterior/conjugate.h"

namespace pits::test {
namespace {

PiTsConfig small_config(int particles = 1) {
  PiTsConfig c = pi_ts_preset("neural-linear", "showdown");
  c.posterior.particles = particles;
  c.posterior.model.hidden = {7, 5};
  c.posterior.batch = 16;
  c.posterior.training = {.every = 20, .steps = 10};
  return c;
}

constexpr BayesLinearConfig prior{.lambda = 0.25, .a0 = 6.0, .b0 = 6.0};  // the showdown's

// The units of the last hidden layer by scalar loops, as the K outputs of the network that ends there: the last
// layer's parameters lie last, so a shorter network reads the same θ.
std::vector<double> plain_features(const PiTsConfig& c, std::span<const float> theta, std::span<const float> x) {
  ModelConfig body = c.posterior.model;
  const auto units = static_cast<std::size_t>(body.hidden.back());
  body.hidden.pop_back();
  std::vector<double> z = PlainModel{body, x.size(), units}.outputs(as_double(theta), as_double(x));
  for (double& value : z) value = std::max(value, 0.0);
  return z;
}

// The closed-form posterior of one action's rounds on the features of particle i.
Conjugate posterior_of(const PiTs& agent, const PiTsConfig& c, std::size_t particle, const std::vector<Event>& events,
                       Action a) {
  const auto n = std::ranges::count(events, a, &Event::action);
  Eigen::MatrixXd x(n, c.posterior.model.hidden.back());
  Eigen::VectorXd y(n);
  Eigen::Index i = 0;
  for (const Event& e : events) {
    if (e.action != a) continue;
    const std::vector<double> z = plain_features(c, agent.posterior().particles().row(particle), e.x);
    x.row(i) = Eigen::Map<const Eigen::VectorXd>(z.data(), x.cols());
    y[i++] = e.reward;
  }
  return {prior, x, y};
}

// Features, and sums of n products of them, are in single precision: sums of m products have a relative error of at
// most 4√m·2⁻²⁴ (Higham and Mary 2019), m the n rounds of an action and the 13 products of a feature. The condition of
// the precision amplifies it in the mean.
void expect_conjugate(const PiTs& agent, const PiTsConfig& c, const std::vector<Event>& events) {
  for (std::size_t i = 0; i < agent.posterior().particles().rows(); ++i) {
    for (Action a = 0; a < action_count; ++a) {
      const Conjugate exact = posterior_of(agent, c, i, events, a);
      const BayesLinear& posterior = agent.posterior().last_layers()->regression(i, a);
      const double n = 2.0 * (exact.a - prior.a0), rounding = 4.0 * std::sqrt(n + 13.0) * std::ldexp(1.0, -24);
      const double condition = exact.precision.norm() * exact.precision.inverse().norm();
      EXPECT_LT((posterior.precision() - exact.precision).norm(), rounding * exact.precision.norm());
      EXPECT_LE((posterior.mean() - exact.mean).norm(), condition * rounding * exact.mean.norm());
      EXPECT_EQ(posterior.a(), exact.a);
      EXPECT_NEAR(posterior.b(), exact.b, condition * rounding * exact.total + 1e-12);
    }
  }
}

TEST(NeuralLinearPreset, IsTheShowdowns) {
  for (const char* name : {"showdown", "showdown-reset"}) {
    const PiTsConfig c = pi_ts_preset("neural-linear", name);
    const LastLayerConfig& last = c.posterior.last_layer;
    EXPECT_EQ(c.posterior.particles, 1);
    EXPECT_EQ(c.posterior.model.hidden, std::vector<int>{50});
    EXPECT_EQ(c.posterior.optimizer.restart, std::string(name) == "showdown-reset");
    EXPECT_EQ(c.posterior.batch, 512);
    EXPECT_EQ(last.regression_lambda, 0.25);
    EXPECT_EQ(last.noise_shape, 6.0);
    EXPECT_EQ(last.noise_scale, 6.0);
    EXPECT_FALSE(last.evidence);
    EXPECT_FALSE(last.intercept);
    EXPECT_EQ(last.linear_inputs, 0);
    EXPECT_EQ(last.draws, HeadDraws::per_decision);
    EXPECT_EQ(c.exploration.initial_pulls, 2);
    EXPECT_EQ(c.posterior.training.every, 50);
    EXPECT_EQ(c.posterior.training.steps, 100);
  }
}

// The network is still the first one: rank-one updates alone.
TEST(NeuralLinear, HasTheClosedFormPosteriorOnTheFirstNetworksFeatures) {
  const PiTsConfig c = small_config();
  PiTs agent(c, small_setup());
  const std::vector<Event> events = random_events(19, 12);
  learn_all(agent, events);
  ASSERT_EQ(agent.posterior().steps_done(), 0);
  expect_conjugate(agent, c, events);
}

// At 60 rounds all are refitted, at 69 nine more came by rank-one updates; several particles each have their own.
TEST(NeuralLinear, RefitsEverythingOnTheFeaturesOfTheTrainedNetworks) {
  for (const std::size_t rounds : {60U, 69U}) {
    const PiTsConfig c = small_config(3);
    PiTs agent(c, small_setup());
    const std::vector<Event> events = random_events(rounds, 12);
    learn_all(agent, events);
    ASSERT_EQ(agent.posterior().steps_done(), 30);
    expect_conjugate(agent, c, events);
  }
}

// 1,100 rounds are refitted in two pieces; an action that was never played keeps its prior.
TEST(NeuralLinear, RefitsALongHistoryAndLeavesAnUntriedActionAtItsPrior) {
  PiTsConfig c = small_config();
  c.posterior.training.every = 1100;
  PiTs agent(c, small_setup());
  const std::vector<Event> events = random_events(1100, 13, context_size, action_count - 1);
  learn_all(agent, events);
  ASSERT_EQ(agent.posterior().steps_done(), 10);
  expect_conjugate(agent, c, events);
}

// Refits walk through all rounds so far: with a share they are few enough that a round costs the same late as early.
TEST(NeuralLinear, LateTrainingsAreAShareOfTheRoundsApart) {
  PiTsConfig c = small_config();
  c.posterior.training.every = 10;
  c.posterior.training.share = 0.07;
  c.posterior.training.steps = 1;
  PiTs agent(c, small_setup());
  const std::vector<Event> events = random_events(20'000, 14);
  std::vector<double> at = {0.0};
  double early = 0.0, late = 0.0;  // observations that refits of the first and the last 10,000 rounds walk through
  for (std::size_t t = 1; t <= events.size(); ++t) {
    const std::int64_t before = agent.posterior().steps_done();
    const Feedback event = events[t - 1].feedback();
    agent.learn({&event, 1});
    if (agent.posterior().steps_done() == before) continue;
    const auto round = static_cast<double>(t), gap = round - at.back();
    EXPECT_GE(gap, std::max(10.0, std::floor(0.07 * round))) << t;
    EXPECT_LT(gap - 1.0, std::max(10.0, std::floor(0.07 * (round - 1.0)))) << t;
    at.push_back(round);
    (t <= 10'000 ? early : late) += round;
  }
  EXPECT_LT(late, 1.1 * early);
}

// z·β_a is Student's t with 2a degrees of freedom, centre z·mean and squared scale (b/a) zᵀP⁻¹z.
TEST(NeuralLinear, PlaysAnActionAsOftenAsItIsLikelyToBeTheBest) {
  const PiTsConfig c = small_config();
  PiTs agent(c, small_setup(2));
  const std::vector<Event> events = random_events(50, 13);
  learn_all(agent, events);
  const std::vector<float> x = {0.4F, -0.2F, 0.9F};
  const std::vector<double> units = plain_features(c, agent.posterior().particles().row(0), x);
  const Eigen::Map<const Eigen::VectorXd> z(units.data(), static_cast<Eigen::Index>(units.size()));
  ASSERT_GT(z.norm(), 0.1);
  std::vector<Density> densities;
  for (Action a = 0; a < action_count; ++a) {
    const Conjugate exact = posterior_of(agent, c, 0, events, a);
    const double scale = std::sqrt(exact.b / exact.a * z.dot(exact.precision.ldlt().solve(z)));
    densities.push_back(student_density(2.0 * exact.a, exact.mean.dot(z), scale));
  }
  std::vector<double> counts(action_count, 0.0);
  for (DecisionId id = 0; id < 40000; ++id) counts[agent.choose({.x = x, .id = id}).action] += 1.0;
  expect_frequencies(counts, probability_of_largest(densities, -10.0, 10.0));
}

TEST(NeuralLinear, RefusesBadNumbers) {
  const auto refused = [](auto change) {
    PiTsConfig config = small_config();
    change(config);
    EXPECT_THROW(PiTs(config, small_setup()), Error);
  };
  refused([](PiTsConfig& c) { c.posterior.last_layer.regression_lambda = 0.0; });
  refused([](PiTsConfig& c) { c.posterior.last_layer.noise_scale = 0.0; });
  refused([](PiTsConfig& c) { c.exploration.initial_pulls = -1; });
  refused([](PiTsConfig& c) { c.posterior.training.every = 0; });
}

}  // namespace
}  // namespace pits::test
