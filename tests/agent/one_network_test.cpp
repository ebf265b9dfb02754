// The agents of one network: dropout, parameter noise, NeuralUCB, NeuralTS.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "agent/play.h"
#include "pits/agent/network/dropout.h"
#include "pits/agent/network/gradient_agents.h"
#include "pits/agent/network/parameter_noise.h"

namespace pits::test {
namespace {

NetworkConfig small_network() {
  NetworkConfig c;
  c.posterior.model.hidden = {6};
  c.posterior.batch = 8;
  c.posterior.training = {.every = 7, .steps = 3};
  return c;
}

std::vector<float> copy(std::span<const float> x) { return {x.begin(), x.end()}; }

// The network by itself, trained on the same events.
Posterior trained_network(const std::vector<Event>& events) {
  const NetworkConfig c = small_network();
  Posterior network(c.posterior, context_size, action_count, {.seed = 1});
  for (std::size_t i = 0; i < events.size(); ++i) {
    network.observe({.context = events[i].x, .action = events[i].action, .reward = events[i].reward});
    if ((i + 1) % 7 == 0) network.train(3);
  }
  return network;
}

std::vector<Action> greedy_choices(const Posterior& network, std::size_t n) {
  Network::Workspace workspace;
  std::vector<Action> actions;
  for (const Event& e : random_events(n, 77)) {
    std::vector<float> values(action_count);
    network.model().predict(network.particles().row(0), e.x, workspace, values);
    actions.push_back(best_action(values, {}));
  }
  return actions;
}

TEST(DropoutAgent, KeepingAllIsTheNetworkByItself) {
  const auto events = random_events(60, 5);
  Dropout agent({.network = small_network(), .keep = 1.0}, small_setup());
  learn_all(agent, events);
  const Posterior network = trained_network(events);
  EXPECT_EQ(copy(agent.theta()), copy(network.particles().row(0)));
  EXPECT_EQ(choices(agent, 200), greedy_choices(network, 200));
}

TEST(DropoutAgent, DropoutReachesTrainingAndActing) {
  const auto events = random_events(60, 5);
  Dropout agent({.network = small_network(), .keep = 0.5}, small_setup());
  learn_all(agent, events);
  EXPECT_NE(copy(agent.theta()), copy(trained_network(events).particles().row(0)));
  int changed = 0;  // decisions that depend on the draw
  for (const Event& e : random_events(200, 7)) {
    changed += agent.choose({.x = e.x, .id = 1}).action != agent.choose({.x = e.x, .id = 2}).action;
  }
  EXPECT_GT(changed, 0);
}

TEST(DropoutAgent, RefusesToKeepNothing) {
  EXPECT_THROW(Dropout({.keep = 0.0}, small_setup()), Error);
  EXPECT_THROW(Dropout({.keep = 1.1}, small_setup()), Error);
}

TEST(ParameterNoise, WithoutNoiseIsGreedy) {
  const auto events = random_events(60, 5);
  ParameterNoise agent({.network = small_network(), .sigma = 0.0}, small_setup());
  learn_all(agent, events);
  EXPECT_EQ(choices(agent, 200), greedy_choices(trained_network(events), 200));
}

// p = (1/2, 1/2), q = (1/4, 3/4): KL = ½ log 2 + ½ log(2/3). An ε-greedy policy of 4 actions plays the best one with
// 1 − ε + ε/4.
TEST(ParameterNoise, DistancesByHand) {
  const std::vector<float> p = {1.0F, 1.0F}, q = {0.0F, std::log(3.0F)};
  EXPECT_NEAR(softmax_divergence(p, q), 0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3.0), 1e-7);
  EXPECT_EQ(softmax_divergence(p, p), 0.0);
  EXPECT_NEAR(softmax_divergence(std::vector<float>{900.0F, -900.0F}, std::vector<float>{899.0F, -900.0F}), 0.0, 1e-12);
  EXPECT_NEAR(greedy_divergence(0.1, 4), -std::log(0.925), 1e-15);
}

// A huge σ is too far from greedy and shrinks, a tiny one grows; ε falls by its factor.
TEST(ParameterNoise, SigmaFollowsTheDistance) {
  const auto events = random_events(21, 5);  // three trainings
  for (const double sigma : {1e-6, 50.0}) {
    ParameterNoise agent({.network = small_network(), .sigma = sigma}, small_setup());
    learn_all(agent, events);
    EXPECT_NEAR(agent.sigma() / sigma, std::pow(1.01, sigma < 1.0 ? 3 : -3), 1e-12);
    EXPECT_NEAR(agent.epsilon(), 0.1 * std::pow(0.99, 3), 1e-15);
  }
}

// Mean and variance of a noisy two-layer network's output over draws of every weight, against draws of the units,
// within four standard errors.
TEST(ParameterNoise, NoiseOnUnitsIsNoiseOnWeights) {
  const Network network(3, {5}, 1, Activation::relu);
  Stream stream({.seed = 6, .purpose = Purpose::target_sample});
  std::vector<float> theta(network.parameters()), moved(theta.size()), out(1);
  stream.fill_normal(theta);
  const std::vector<float> x = {0.5F, -1.0F, 0.8F};
  constexpr int n = 40000;
  double moment[2][4] = {};
  Network::Workspace workspace;
  for (int i = 0; i < n; ++i) {
    for (int way = 0; way < 2; ++way) {
      if (way == 0) {
        noisy_outputs(network, theta, 0.3, x, stream, out);
      } else {
        for (std::size_t j = 0; j < theta.size(); ++j) moved[j] = theta[j] + 0.3F * static_cast<float>(stream.normal());
        network.evaluate(moved, x, workspace, out);
      }
      for (int k = 0; k < 4; ++k) moment[way][k] += std::pow(static_cast<double>(out[0]), k + 1) / n;
    }
  }
  for (int k = 0; k < 2; ++k) {
    const double variance = moment[1][2 * k + 1] - moment[1][k] * moment[1][k];
    EXPECT_NEAR(moment[0][k], moment[1][k], 4.0 * std::sqrt(2.0 * variance / n));
  }
}

// A linear model's gradient for action a is (x, 1) in the rows of a: its bonus is LinUCB's with features (x, 1), one
// ridge regression an action.
TEST(NeuralUcb, OfALinearModelWithAFullDesignHasTheBonusOfLinUcb) {
  NeuralUcbConfig c{.network = small_network(), .design = {.kind = DesignKind::full, .lambda = 0.7}, .gamma = 1e6};
  c.network.posterior.model.kind = ModelKind::linear;
  c.network.exploration.initial_pulls = 0;
  NeuralUcb agent(c, small_setup());
  const auto events = random_events(40, 5);
  std::vector<Eigen::MatrixXd> A(action_count, 0.7 * Eigen::MatrixXd::Identity(4, 4));
  const auto features = [](const std::vector<float>& x) { return Eigen::Vector4d(x[0], x[1], x[2], 1.0); };
  for (const Event& e : events) A[e.action] += features(e.x) * features(e.x).transpose();
  learn_all(agent, events);
  for (const Event& e : random_events(200, 9)) {  // γ is so large that the bonus decides
    std::vector<double> bonus(action_count);
    for (Action a = 0; a < action_count; ++a) bonus[a] = std::sqrt(features(e.x).dot(A[a].inverse() * features(e.x)));
    EXPECT_EQ(agent.choose({.x = e.x}).action, best_action(bonus, {}));
  }
  std::vector<float> gradient(16, 0.0F);  // of action 1: weights (4,3), then biases
  std::copy_n(events[0].x.begin(), 3, gradient.begin() + 3);
  gradient[13] = 1.0F;
  const Eigen::Vector4d x = features(events[0].x);
  EXPECT_NEAR(agent.design().norm(gradient), std::sqrt(x.dot(A[1].inverse() * x)), 1e-6);
}

TEST(NeuralUcb, SaysThatItsDecisionsAreCertain) {
  NeuralUcb agent({.network = small_network()}, small_setup());
  learn_all(agent, random_events(30, 5));
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  EXPECT_EQ(agent.choose({.x = x, .want_propensity = true}).propensity, 1.0F);
}

TEST(NeuralTs, WithoutNoiseIsGreedy) {
  const auto events = random_events(60, 5);
  NeuralTs agent({.network = small_network(), .nu = 0.0}, small_setup());
  learn_all(agent, events);
  EXPECT_EQ(choices(agent, 200), greedy_choices(trained_network(events), 200));
}

// Two actions of an untrained linear model without observations: Z = λI, so that each draw has variance
// ν² (‖x‖² + 1), and action 1 wins with probability Φ((m₁ − m₀)/(ν √(2(‖x‖² + 1)))), within four standard errors.
TEST(NeuralTs, PlaysEachActionAsOftenAsItsDrawIsBest) {
  NeuralTsConfig c{.network = small_network(), .design = {.lambda = 3.0}, .nu = 0.2};
  c.network.posterior.model.kind = ModelKind::linear;
  c.network.exploration.initial_pulls = 0;
  const NeuralTs agent(c, {.context_size = 3, .actions = 2, .seed = 3});
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  Network::Workspace workspace;
  std::vector<float> mean(2);
  agent.posterior().model().predict(agent.theta(), x, workspace, mean);
  const double sd = 0.2 * std::sqrt(2.0 * (0.09 + 1.0 + 0.25 + 1.0));
  const double p = 0.5 * std::erfc(-(mean[1] - mean[0]) / (sd * std::sqrt(2.0)));
  ASSERT_GT(p, 0.05);
  ASSERT_LT(p, 0.95);
  constexpr int n = 20000;
  int ones = 0;
  for (DecisionId id = 0; id < n; ++id) ones += agent.choose({.x = x, .id = id}).action == 1;
  EXPECT_NEAR(static_cast<double>(ones) / n, p, 4.0 * std::sqrt(p * (1.0 - p) / n));
}

}  // namespace
}  // namespace pits::test
