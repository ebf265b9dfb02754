#include "pits/agent/linear/lin_ts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agent/choice_probability.h"
#include "agent/play.h"
#include "chi_square.h"
#include "posterior/conjugate.h"

namespace pits::test {
namespace {

// The rows (x, 1) and rewards of one action.
Conjugate posterior_of(const std::vector<Event>& events, Action a, const BayesLinearConfig& prior) {
  const auto n = std::ranges::count(events, a, &Event::action);
  Eigen::MatrixXd x(n, context_size + 1);
  Eigen::VectorXd y(n);
  Eigen::Index i = 0;
  for (const Event& e : events) {
    if (e.action != a) continue;
    for (std::size_t l = 0; l < context_size; ++l) x(i, static_cast<Eigen::Index>(l)) = e.x[l];
    x(i, context_size) = 1.0;
    y[i++] = e.reward;
  }
  return {prior, x, y};
}

TEST(LinTs, EachActionHasTheClosedFormPosteriorOfItsOwnRounds) {
  const LinTsConfig config;
  LinTs agent(config, small_setup());
  const std::vector<Event> events = random_events(300, 12);
  learn_all(agent, events);
  for (Action a = 0; a < action_count; ++a) {
    const Conjugate exact = posterior_of(events, a, config.prior);
    EXPECT_LT((agent.posterior(a).mean() - exact.mean).norm(), 1e-11);
    EXPECT_LT((agent.posterior(a).precision() - exact.precision).norm(), 1e-11 * exact.precision.norm());
    EXPECT_EQ(agent.posterior(a).a(), exact.a);
    EXPECT_NEAR(agent.posterior(a).b(), exact.b, 1e-11 * exact.total);
  }
}

// x·β_a is Student's t with 2a degrees of freedom, centre x·mean and squared scale (b/a) xᵀP⁻¹x: Thompson sampling
// plays an action as often as it is the largest.
TEST(LinTs, PlaysAnActionAsOftenAsItIsLikelyToBeTheBest) {
  const LinTsConfig config;
  LinTs agent(config, small_setup(2));
  const std::vector<Event> events = random_events(60, 13);
  learn_all(agent, events);
  const std::vector<float> x = {0.4F, -0.2F, 0.1F};
  const Eigen::Vector4d row(x[0], x[1], x[2], 1.0);
  std::vector<Density> densities;
  for (Action a = 0; a < action_count; ++a) {
    const Conjugate exact = posterior_of(events, a, config.prior);
    const double scale = std::sqrt(exact.b / exact.a * row.dot(exact.precision.ldlt().solve(row)));
    densities.push_back(student_density(2.0 * exact.a, exact.mean.dot(row), scale));
  }
  std::vector<double> counts(action_count, 0.0);
  for (DecisionId id = 0; id < 40000; ++id) counts[agent.choose({.x = x, .id = id}).action] += 1.0;
  expect_frequencies(counts, probability_of_largest(densities, -10.0, 10.0));
}

TEST(LinTs, StartsWithRoundRobinPulls) {
  LinTsConfig config;
  config.exploration.initial_pulls = 3;
  LinTs agent(config, small_setup());
  std::uint64_t events = 0;
  for (const Event& e : random_events(3 * action_count, 14)) {
    const Decision decision = agent.choose({.x = e.x, .id = events, .want_propensity = true});
    EXPECT_EQ(decision.action, events++ % action_count);
    EXPECT_EQ(decision.propensity, 1.0F);
    const Feedback feedback = e.feedback();
    agent.learn({&feedback, 1});
  }
  // Then it samples, and an integral says how likely a choice was.
  const float p = agent.choose({.x = random_events(1, 1)[0].x, .want_propensity = true}).propensity.value();
  EXPECT_TRUE(p > 0.0F && p < 1.0F);
}

TEST(LinTs, RefusesBadPriors) {
  EXPECT_THROW(LinTs({.prior = {.lambda = 0.0}}, small_setup()), Error);
  EXPECT_THROW(LinTs({.exploration = {.initial_pulls = -1}}, small_setup()), Error);
}

}  // namespace
}  // namespace pits::test
