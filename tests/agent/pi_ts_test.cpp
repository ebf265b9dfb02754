#include "pits/agent/presets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agent/play.h"

namespace pits::test {
namespace {

// docs/method.md, section 3, number by number.
TEST(PiTsPreset, ReleasedIsTheAuthorsCode) {
  const PiTsConfig c = pi_ts_preset("pi-ts", "released");
  EXPECT_EQ(c.posterior.particles, 20);
  EXPECT_EQ(c.posterior.model.kind, ModelKind::mlp);
  EXPECT_EQ(c.posterior.model.hidden, std::vector<int>{50});
  EXPECT_EQ(c.posterior.model.activation, Activation::relu);
  EXPECT_EQ(c.posterior.model.noise, Noise::fixed);
  EXPECT_NEAR(1.0 / (c.posterior.model.noise_sd * c.posterior.model.noise_sd), 2.0, 1e-12);
  EXPECT_EQ(c.posterior.model.prior, PriorScale::same);
  EXPECT_EQ(c.posterior.model.prior_precision, 0.1);
  EXPECT_EQ(c.posterior.model.init, Init::fan_in);
  EXPECT_EQ(c.posterior.flow.kind, FlowKind::dgf_released);
  EXPECT_EQ(c.posterior.flow.bandwidth.rule, Scale::Rule::median);
  EXPECT_EQ(c.posterior.flow.score_at, ScoreAt::neighbour);
  EXPECT_EQ(c.posterior.batch, 512);
  EXPECT_EQ(c.posterior.scale, LikelihoodScale::minibatch);
  EXPECT_EQ(c.posterior.memory.capacity, 0);
  EXPECT_EQ(c.posterior.optimizer.rule, Rule::sign);
  EXPECT_EQ(c.posterior.optimizer.schedule, Schedule::constant);
  EXPECT_EQ(c.posterior.optimizer.step, 1e-3);
  EXPECT_EQ(c.posterior.optimizer.epsilon, 1e-6);
  EXPECT_EQ(c.posterior.optimizer.clip, 0.0);
  EXPECT_EQ(c.exploration.initial_pulls, 2);
  EXPECT_EQ(c.posterior.training.every, 50);
  EXPECT_EQ(c.posterior.training.steps, 100);
  EXPECT_EQ(c.exploration.floor, 0.0);
}

TEST(PiTs, TrainsWhenTheRoundsAreAMultipleOfItsPeriod) {
  PiTsConfig config = pi_ts_preset("pi-ts", "released");
  config.posterior.model.hidden = {4};
  config.posterior.batch = 4;
  config.posterior.training.every = 6;
  config.posterior.training.steps = 3;
  PiTs agent(config, small_setup());
  std::int64_t rounds = 0;
  for (const Event& e : random_events(40, 2)) {
    const Feedback feedback = e.feedback();
    agent.learn({&feedback, 1});
    ++rounds;
    EXPECT_EQ(agent.posterior().steps_done(), rounds / 6 * 3);
  }
}

TEST(PiTs, RemembersWhatItLearned) {
  PiTs agent(pi_ts_preset("pi-ts", "paper"), small_setup());
  const std::vector<Event> events = random_events(10, 2);
  learn_all(agent, events);
  ASSERT_EQ(agent.posterior().history().seen(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    const Observation o = agent.posterior().history()[i];
    EXPECT_TRUE(std::ranges::equal(o.context, events[i].x));
    EXPECT_EQ(o.action, events[i].action);
    EXPECT_EQ(o.reward, events[i].reward);
  }
}

// Two actions, the reward is 1 for the sign of x: after 300 rounds nearly every decision is right, where uniform play
// is right 50 ± 5 times of 100. A boundary known to a sixteenth of the contexts' sd leaves P(|x| < 1/16) = 0.05 in
// doubt; 4 standard deviations of that count, √(100·0.05·0.95) = 2.2, above it are 14 wrong.
TEST(PiTs, LearnsWhichActionTheContextAsksFor) {
  for (const char* preset : {"paper", "released"}) {
    PiTs agent(pi_ts_preset("pi-ts", preset), {.context_size = 1, .actions = 2, .seed = 6});
    Stream stream({.seed = 7, .purpose = Purpose::target_sample});
    int right = 0;
    for (DecisionId t = 0; t < 400; ++t) {
      const std::vector<float> x = {static_cast<float>(stream.normal())};
      const Action action = agent.choose({.x = x, .id = t}).action;
      const bool hit = action == (x[0] > 0.0F ? 1U : 0U);
      right += t >= 300 && hit;
      const Feedback feedback{.x = x, .action = action, .reward = hit ? 1.0F : 0.0F};
      agent.learn({&feedback, 1});
    }
    EXPECT_GE(right, 86) << preset;
  }
}

TEST(PiTs, RefusesBadNumbers) {
  const auto refused = [](auto change) {
    PiTsConfig config;
    change(config);
    EXPECT_THROW(PiTs(config, small_setup()), Error);
  };
  refused([](auto& c) { c.exploration.floor = 1.5; });
  refused([](auto& c) { c.exploration.floor = -0.1; });
  refused([](auto& c) { c.posterior.training.every = 0; });
  refused([](auto& c) { c.posterior.training.steps = 0; });
  refused([](auto& c) { c.exploration.initial_pulls = -1; });
  refused([](auto& c) { c.posterior.particles = 0; });
}

TEST(PiTs, BernoulliModelRefusesOtherRewards) {
  PiTsConfig config;
  config.posterior.model.kind = ModelKind::mlp_logistic;
  PiTs agent(config, small_setup());
  const std::vector<float> x(context_size, 1.0F);
  const Feedback feedback{.x = x, .action = 0, .reward = 1.5F};
  EXPECT_THROW(agent.learn({&feedback, 1}), Error);
}

}  // namespace
}  // namespace pits::test
