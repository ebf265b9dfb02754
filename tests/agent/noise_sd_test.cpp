// The noise that particles expect of rewards, in the rewards' own units.
#include <gtest/gtest.h>

#include <cmath>

#include "agent/play.h"
#include "pits/agent/pi_ts.h"

namespace pits::test {
namespace {

PiTs learned(PiTsConfig config) {
  config.posterior.particles = 3;
  config.posterior.model.hidden = {4};
  config.train_every = 5;
  PiTs agent(config, small_setup());
  for (const Event& e : random_events(40, 5)) {
    const Feedback event{.x = e.x, .action = e.action, .reward = 10.0F * e.reward};
    agent.learn({&event, 1});
  }
  return agent;
}

TEST(NoiseSd, IsTheConfigsWhereItIsFixed) {
  PiTsConfig config = pi_ts_preset("paper");
  config.posterior.model.noise_sd = 0.7;
  EXPECT_FLOAT_EQ(static_cast<float>(learned(config).noise_sd(1, 2)), 0.7F);
  config.posterior.units = UnitsKind::standardised;
  const PiTs agent = learned(config);
  EXPECT_FLOAT_EQ(static_cast<float>(agent.noise_sd(1, 2)),
                  static_cast<float>(0.7 * agent.posterior().units().reward_scale().sd));
}

TEST(NoiseSd, IsTheParticlesOwnWhereItIsLearned) {
  PiTsConfig config = pi_ts_preset("paper");
  config.posterior.model.noise = Noise::learned_per_action;
  const PiTs agent = learned(config);
  const ParticlesView theta = agent.posterior().particles();
  for (Action a = 0; a < action_count; ++a) {
    const float log_sd = theta(2, theta.cols() - action_count + a);
    EXPECT_FLOAT_EQ(static_cast<float>(agent.noise_sd(2, a)), std::exp(log_sd));
  }
}

// σ² of a particle is b/a over all its regressions. An action's own starts from it with the weight of two pairs of
// observations and counts where it is larger; no reward's size is in doubt here.
TEST(NoiseSd, IsTheRegressionsWhereLastLayersAreExact) {
  const PiTs agent = learned(pi_ts_preset("auto"));
  const double scale = agent.posterior().units().reward_scale().sd;
  for (std::size_t i = 0; i < 3; ++i) {
    double a = 2.0, b = 0.3;  // the preset's prior of the variance
    for (Action k = 0; k < action_count; ++k) {
      a += 0.5 * agent.last_layers()->regression(i, k).n();
      b += agent.last_layers()->regression(i, k).misfit();
    }
    for (Action k = 0; k < action_count; ++k) {
      const BayesLinear& regression = agent.last_layers()->regression(i, k);
      const double own = (2.0 * b / a + regression.misfit()) / (2.0 + 0.5 * regression.n());
      EXPECT_NEAR(agent.noise_sd(i, k), scale * std::sqrt(std::max(b / a, own)), 1e-9 * scale);
    }
  }
}

}  // namespace
}  // namespace pits::test
