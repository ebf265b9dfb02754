// What the bench compares does the same work: the plain loops against the library.
#include "pits/bench/plain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pits/agent/particle/pi_ts.h"
#include "pits/bench/operations.h"
#include "pits/bench/problem.h"

namespace pits::bench {
namespace {

PlainNetworks plain_networks(const Shape& shape, ParticlesView theta) {
  return {{shape.d, hidden, hidden, shape.K}, 0.1F, theta};
}

// Adam's step is 1e-3 at most, whatever the scale of the velocity: a step in another direction differs by as much.
TEST(PlainNetworks, StepIsTheStepOfThePosterior) {
  for (const Shape& shape : {Shape{5, 3, 4}, Shape{12, 2, 3, 4}}) {
    Posterior posterior = taught_posterior(shape);
    PlainNetworks plain = plain_networks(shape, posterior.particles());
    for (std::uint32_t k = 0; k < 3; ++k) {
      Minibatch batch;
      Stream draws({.seed = 1, .purpose = Purpose::minibatch, .step = k});
      posterior.history().sample(draws, batch_size, batch);
      batch.likelihood_scale = static_cast<float>(history_size) / static_cast<float>(batch_size);
      plain.step(batch, 1e-3F);
      posterior.train(1);
    }
    const ParticlesView theta = posterior.particles();
    double square = 0.0;
    for (std::size_t n = 0; n < theta.size(); ++n) square += std::pow(theta.data()[n] - plain.theta.data()[n], 2);
    EXPECT_LT(std::sqrt(square / static_cast<double>(theta.size())), 2e-5) << shape.name();
  }
}

TEST(PlainNetworks, PrefersWhatTheParticlesOfAnAgentPrefer) {
  const Shape shape{54, 7, 20};
  const PiTs agent({.posterior = particle_config(shape), .exploration = {.initial_pulls = 0}},
                   {.context_size = shape.d, .actions = shape.K});
  PlainNetworks plain = plain_networks(shape, agent.posterior().particles());
  const Matrix<float> x = contexts_of(shape, 30);
  for (std::size_t n = 0; n < x.rows(); ++n) {
    std::vector<float> share(shape.K, 0.0F);
    for (std::size_t i = 0; i < shape.M; ++i) share[plain.best_action(i, x.row(n))] += 1.0F;
    std::vector<float> p(shape.K);
    EXPECT_EQ(agent.propensities({.x = std::as_const(x).row(n)}, 1, p), 0.0);
    for (std::size_t a = 0; a < shape.K; ++a) EXPECT_NEAR(p[a], share[a] / static_cast<float>(shape.M), 1e-6) << n;
  }
}

TEST(Problem, OneHotRowsHaveTheirOnes) {
  const Shape shape{389, 9, 20, 67};
  const Matrix<float> x = contexts_of(shape, 100);
  for (std::size_t n = 0; n < x.rows(); ++n) {
    double ones = 0.0;
    for (const float v : std::as_const(x).row(n)) {
      EXPECT_TRUE(v == 0.0F || v == 1.0F);
      ones += v;
    }
    EXPECT_EQ(ones, 67.0);
  }
}

// By hand for d = 2, K = 1, M = 1: a hidden layer of 50 and another, 2·512·(2·2·50 + 3·2500 + 3·50) operations.
TEST(Operations, AreThoseOfThePlayedOutput) {
  EXPECT_EQ(score_operations({2, 1, 1}), 2.0 * 512.0 * 7850.0);
  EXPECT_EQ(score_operations({2, 9, 1}), score_operations({2, 1, 1}));
  EXPECT_EQ(score_operations({300, 1, 1, 2}), score_operations({2, 1, 1}));
  EXPECT_EQ(decision_operations({2, 1, 7}), 2.0 * (100.0 + 2500.0 + 50.0));
}

}  // namespace
}  // namespace pits::bench
