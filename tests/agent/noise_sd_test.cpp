// The noise that particles expect of rewards, in the rewards' own units.
#include <gtest/gtest.h>

#include <cmath>

#include "agent/play.h"
#include "pits/agent/presets.h"
#include "posterior/plain_last_layers.h"

namespace pits::test {
namespace {

PiTs learned(PiTsConfig config) {
  config.posterior.particles = 3;
  config.posterior.model.hidden = {4};
  config.posterior.training.every = 5;
  PiTs agent(config, small_setup());
  for (const Event& e : random_events(40, 5)) {
    const Feedback event{.x = e.x, .action = e.action, .reward = 10.0F * e.reward};
    agent.learn({&event, 1});
  }
  return agent;
}

TEST(NoiseSd, IsTheConfigsWhereItIsFixed) {
  PiTsConfig config = pi_ts_preset("pi-ts", "paper");
  config.posterior.model.noise_sd = 0.7;
  EXPECT_FLOAT_EQ(static_cast<float>(learned(config).posterior().noise_sd(1, 2)), 0.7F);
  config.posterior.units = UnitsKind::standardised;
  const PiTs agent = learned(config);
  EXPECT_FLOAT_EQ(static_cast<float>(agent.posterior().noise_sd(1, 2)),
                  static_cast<float>(0.7 * agent.posterior().standardiser().reward_scale().sd));
}

TEST(NoiseSd, IsTheParticlesOwnWhereItIsLearned) {
  PiTsConfig config = pi_ts_preset("pi-ts", "paper");
  config.posterior.model.noise = Noise::learned_per_action;
  const PiTs agent = learned(config);
  const ParticlesView theta = agent.posterior().particles();
  for (Action a = 0; a < action_count; ++a) {
    const float log_sd = theta(2, theta.cols() - action_count + a);
    EXPECT_FLOAT_EQ(static_cast<float>(agent.posterior().noise_sd(2, a)), std::exp(log_sd));
  }
}

// By the plain loops of the rules; no reward's size is in doubt here.
TEST(NoiseSd, IsTheRegressionsWhereLastLayersAreExact) {
  const AgentSetup setup = small_setup();
  const auto agent =
      find_recipe(agent_catalogue(), "agent",
                  parse_spec("pi-ts:exact,model=linear,particles=3,train_every=5,train_first=0,train_share=0"))
          ->make(setup);
  PlainLearner plain({.actions = action_count,
                      .particles = 3,
                      .train_every = 5,
                      .posterior_scale = 0.25,
                      .scale_prior = 4.0,
                      .address = {.seed = setup.seed, .realization = setup.realization}});
  for (const Event& e : random_events(43, 5)) {
    const Feedback event{.x = e.x, .action = e.action, .reward = 10.0F * e.reward};
    agent->learn({&event, 1});
    plain.learn(e.x, e.action, event.reward);
  }
  const PiTs& pi_ts = dynamic_cast<const PiTs&>(*agent);
  for (std::size_t i = 0; i < 3; ++i) {
    for (Action k = 0; k < action_count; ++k)
      EXPECT_NEAR(pi_ts.posterior().noise_sd(i, k), plain.noise_sd(k), plain.tolerance());
  }
}

}  // namespace
}  // namespace pits::test
