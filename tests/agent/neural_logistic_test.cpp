#include "pits/agent/network/neural_logistic.h"

#include <gtest/gtest.h>

#include "agent/play.h"

namespace pits::test {
namespace {

NeuralLogisticConfig small_config() {
  NeuralLogisticConfig c;
  c.network.posterior.model.kind = ModelKind::mlp_logistic;
  c.network.posterior.model.hidden = {5};
  c.network.posterior.batch = 8;
  c.network.posterior.training.every = 20;
  c.network.posterior.training.steps = 3;
  return c;
}

// After a training the regressions are the modes over the features of the network as it is now: no slope there.
TEST(NeuralLogistic, RegressionsAreRefittedToAllObservations) {
  NeuralLogistic agent(small_config(), small_setup());
  const auto events = random_events(40, 5);
  learn_all(agent, events);
  for (Action a = 0; a < action_count; ++a) {
    const Eigen::VectorXd& w = agent.regression(a).mean();
    Eigen::VectorXd slope = -w;  // λ = 1
    for (const Event& e : events) {
      if (e.action != a) continue;
      const Eigen::VectorXd x = units_with_intercept(agent.model(), agent.theta(), e.x);
      slope += (e.reward - 1.0 / (1.0 + std::exp(-x.dot(w)))) * x;
    }
    EXPECT_LT(slope.norm(), 1e-9);
    EXPECT_GT(w.norm(), 0.0);
  }
}

TEST(NeuralLogistic, BetweenTrainingsOnlyThePlayedActionLearns) {
  NeuralLogistic agent(small_config(), small_setup());
  learn_all(agent, random_events(20, 5));
  const NeuralLogistic before = agent;
  const std::vector<float> x = {1.0F, -1.0F, 0.5F};
  const Feedback event{.x = x, .action = 2, .reward = 1.0F};
  agent.learn({&event, 1});
  for (Action a = 0; a < action_count; ++a) {
    EXPECT_EQ(agent.regression(a).mean() != before.regression(a).mean(), a == 2);
  }
}

TEST(NeuralLogistic, NeedsRewardsOfZeroToOneAndALogisticModel) {
  NeuralLogistic agent(small_config(), small_setup());
  const std::vector<float> x = {1.0F, -1.0F, 0.5F};
  const Feedback event{.x = x, .action = 2, .reward = 1.5F};
  EXPECT_THROW(agent.learn({&event, 1}), Error);
  NeuralLogisticConfig c = small_config();
  c.network.posterior.model.kind = ModelKind::mlp;
  EXPECT_THROW(NeuralLogistic(c, small_setup()), Error);
}

}  // namespace
}  // namespace pits::test
