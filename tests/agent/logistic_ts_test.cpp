#include "pits/agent/linear/logistic_ts.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "agent/choice_probability.h"
#include "agent/play.h"
#include "chi_square.h"

namespace pits::test {
namespace {

Density normal_density(double centre, double sd) {
  return [=](double x) {
    const double z = (x - centre) / sd;
    return std::exp(-0.5 * z * z) / (sd * std::sqrt(2.0 * std::numbers::pi));
  };
}

// x·w is N(x·m, xᵀP⁻¹x) for w ~ N(m, P⁻¹).
TEST(LogisticTs, PlaysAnActionAsOftenAsItIsLikelyToBeTheBest) {
  for (const bool diagonal : {false, true}) {
    LogisticTs agent({.posterior = {.lambda = 0.5, .diagonal = diagonal}}, small_setup());
    learn_all(agent, random_events(60, 13));
    const std::vector<float> x = {0.4F, -0.2F, 0.1F};
    const Eigen::Vector4d row(x[0], x[1], x[2], 1.0);
    std::vector<Density> densities;
    for (Action a = 0; a < action_count; ++a) {
      const BayesLogistic& posterior = agent.posterior(a);
      const Eigen::MatrixXd covariance = posterior.precision().inverse();
      densities.push_back(normal_density(posterior.mean().dot(row), std::sqrt(row.dot(covariance * row))));
    }
    std::vector<double> counts(action_count, 0.0);
    for (DecisionId id = 0; id < 40000; ++id) counts[agent.choose({.x = x, .id = id}).action] += 1.0;
    expect_frequencies(counts, probability_of_largest(densities, -15.0, 15.0));
  }
}

TEST(LogisticTs, RefusesRewardsOutsideTheUnitInterval) {
  LogisticTs agent({}, small_setup());
  const std::vector<float> x(context_size, 1.0F);
  for (const float reward : {-0.1F, 1.5F}) {
    const Feedback feedback{.x = x, .action = 0, .reward = reward};
    EXPECT_THROW(agent.learn({&feedback, 1}), Error);
  }
  EXPECT_THROW(LogisticTs({.posterior = {.lambda = 0.0}}, small_setup()), Error);
}

}  // namespace
}  // namespace pits::test
