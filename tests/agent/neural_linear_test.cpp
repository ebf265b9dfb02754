#include "pits/agent/neural_linear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agent/choice_probability.h"
#include "agent/play.h"
#include "chi_square.h"
#include "model/plain_model.h"
#include "posterior/conjugate.h"

namespace pits::test {
namespace {

NeuralLinearConfig small_config(int particles = 1) {
  NeuralLinearConfig c;
  c.networks.particles = particles;
  c.networks.model.hidden = {7, 5};
  c.networks.batch = 16;
  c.train_every = 20;
  c.train_steps = 10;
  return c;
}

// The units of the last hidden layer by scalar loops, as the K outputs of the network that ends there: the last
// layer's parameters lie last, so a shorter network reads the same θ.
std::vector<double> plain_features(const NeuralLinearConfig& c, std::span<const float> theta,
                                   std::span<const float> x) {
  ModelConfig body = c.networks.model;
  const auto units = static_cast<std::size_t>(body.hidden.back());
  body.hidden.pop_back();
  std::vector<double> z = PlainModel{body, x.size(), units}.outputs(as_double(theta), as_double(x));
  for (double& value : z) value = std::max(value, 0.0);
  return z;
}

// The closed-form posterior of one action's rounds on the features of particle i.
Conjugate posterior_of(const NeuralLinear& agent, const NeuralLinearConfig& c, std::size_t particle,
                       const std::vector<Event>& events, Action a) {
  const auto n = std::ranges::count(events, a, &Event::action);
  Eigen::MatrixXd x(n, c.networks.model.hidden.back());
  Eigen::VectorXd y(n);
  Eigen::Index i = 0;
  for (const Event& e : events) {
    if (e.action != a) continue;
    const std::vector<double> z = plain_features(c, agent.networks().particles().row(particle), e.x);
    x.row(i) = Eigen::Map<const Eigen::VectorXd>(z.data(), x.cols());
    y[i++] = e.reward;
  }
  return {c.prior, x, y};
}

// Features are sums of at most 8 float products through two layers: 1e-6 relative, and the posterior follows them.
void expect_conjugate(const NeuralLinear& agent, const NeuralLinearConfig& c, const std::vector<Event>& events) {
  for (std::size_t i = 0; i < agent.networks().particles().rows(); ++i) {
    for (Action a = 0; a < action_count; ++a) {
      const Conjugate exact = posterior_of(agent, c, i, events, a);
      const BayesLinear& posterior = agent.regression(i, a);
      EXPECT_LT((posterior.precision() - exact.precision).norm(), 1e-5 * exact.precision.norm());
      EXPECT_LT((posterior.mean() - exact.mean).norm(), 1e-4 * (1.0 + exact.mean.norm()));
      EXPECT_EQ(posterior.a(), exact.a);
      EXPECT_NEAR(posterior.b(), exact.b, 1e-5 * (1.0 + exact.total));
    }
  }
}

TEST(NeuralLinearPreset, IsTheShowdowns) {
  for (const char* name : {"showdown", "showdown-reset"}) {
    const NeuralLinearConfig c = neural_linear_preset(name);
    EXPECT_EQ(c.networks.particles, 1);
    EXPECT_EQ(c.networks.model.hidden, std::vector<int>{50});
    EXPECT_EQ(c.networks.optimizer.restart, std::string(name) == "showdown-reset");
    EXPECT_EQ(c.networks.batch, 512);
    EXPECT_EQ(c.prior.lambda, 0.25);
    EXPECT_EQ(c.prior.a0, 6.0);
    EXPECT_EQ(c.prior.b0, 6.0);
    EXPECT_EQ(c.initial_pulls, 2);
    EXPECT_EQ(c.train_every, 50);
    EXPECT_EQ(c.train_steps, 100);
  }
}

// The network is still the first one: rank-one updates alone.
TEST(NeuralLinear, HasTheClosedFormPosteriorOnTheFirstNetworksFeatures) {
  const NeuralLinearConfig c = small_config();
  NeuralLinear agent(c, small_setup());
  const std::vector<Event> events = random_events(19, 12);
  learn_all(agent, events);
  ASSERT_EQ(agent.networks().steps_done(), 0);
  expect_conjugate(agent, c, events);
}

// At 60 rounds all are refitted, at 69 nine more came by rank-one updates; several particles each have their own.
TEST(NeuralLinear, RefitsEverythingOnTheFeaturesOfTheTrainedNetworks) {
  for (const std::size_t rounds : {60U, 69U}) {
    const NeuralLinearConfig c = small_config(3);
    NeuralLinear agent(c, small_setup());
    const std::vector<Event> events = random_events(rounds, 12);
    learn_all(agent, events);
    ASSERT_EQ(agent.networks().steps_done(), 30);
    expect_conjugate(agent, c, events);
  }
}

// 1,100 rounds are refitted in two pieces; an action that was never played keeps its prior.
TEST(NeuralLinear, RefitsALongHistoryAndLeavesAnUntriedActionAtItsPrior) {
  NeuralLinearConfig c = small_config();
  c.train_every = 1100;
  NeuralLinear agent(c, small_setup());
  const std::vector<Event> events = random_events(1100, 13, context_size, action_count - 1);
  learn_all(agent, events);
  ASSERT_EQ(agent.networks().steps_done(), 10);
  expect_conjugate(agent, c, events);
}

// Refits walk through all rounds so far: with a share they are few enough that a round costs the same late as early.
TEST(NeuralLinear, LateTrainingsAreAShareOfTheRoundsApart) {
  NeuralLinearConfig c = small_config();
  c.train_every = 10;
  c.train_share = 0.07;
  c.train_steps = 1;
  NeuralLinear agent(c, small_setup());
  const std::vector<Event> events = random_events(20'000, 14);
  std::vector<double> at = {0.0};
  double early = 0.0, late = 0.0;  // observations that refits of the first and the last 10,000 rounds walk through
  for (std::size_t t = 1; t <= events.size(); ++t) {
    const std::int64_t before = agent.networks().steps_done();
    const Feedback event = events[t - 1].feedback();
    agent.learn({&event, 1});
    if (agent.networks().steps_done() == before) continue;
    const auto round = static_cast<double>(t), gap = round - at.back();
    EXPECT_GE(gap, std::max(10.0, 0.07 * round)) << t;
    EXPECT_LT(gap - 1.0, std::max(10.0, 0.07 * (round - 1.0))) << t;
    at.push_back(round);
    (t <= 10'000 ? early : late) += round;
  }
  EXPECT_LT(late, 1.1 * early);
}

// z·β_a is Student's t with 2a degrees of freedom, centre z·mean and squared scale (b/a) zᵀP⁻¹z.
TEST(NeuralLinear, PlaysAnActionAsOftenAsItIsLikelyToBeTheBest) {
  const NeuralLinearConfig c = small_config();
  NeuralLinear agent(c, small_setup(2));
  const std::vector<Event> events = random_events(50, 13);
  learn_all(agent, events);
  const std::vector<float> x = {0.4F, -0.2F, 0.9F};
  const std::vector<double> units = plain_features(c, agent.networks().particles().row(0), x);
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
  EXPECT_THROW(NeuralLinear({.prior = {.lambda = 0.0}}, small_setup()), Error);
  EXPECT_THROW(NeuralLinear({.initial_pulls = -1}, small_setup()), Error);
  EXPECT_THROW(NeuralLinear({.train_every = 0}, small_setup()), Error);
}

}  // namespace
}  // namespace pits::test
