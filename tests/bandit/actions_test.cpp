// Actions that come and go during a run.
#include <gtest/gtest.h>

#include <cmath>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"
#include "pits/agent/linear/lin_ts.h"
#include "pits/agent/particle/pi_ts.h"

namespace pits::test {
namespace {

const std::vector<float> x0 = {0.3F, -1.0F, 0.5F};

class NewActions : public testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Agent> taught(std::size_t events) {
    auto agent = small_agent(GetParam(), small_setup());
    learn_all(*agent, random_events(events, 5));
    return agent;
  }
};

// Where the new action is masked, every decision is what it was: what is known of the others stays.
TEST_P(NewActions, LeaveTheOthersAsTheyAre) {
  if (GetParam() == "fixed") return;  // its default probabilities depend on K
  for (const std::size_t events : {0U, 5U, 30U}) {
    const auto agent = taught(events);
    const std::vector<Action> before = choices(*agent, 300);
    agent->add_actions(2);
    const std::vector<Event> asked = random_events(300, 77);
    const std::vector<std::uint8_t> old = {1, 1, 1, 1, 0, 0};
    for (std::size_t i = 0; i < 300; ++i) {
      ASSERT_EQ(agent->choose({.x = asked[i].x, .actions = {old}, .id = 1000 + i}).action, before[i]) << events;
    }
  }
}

TEST_P(NewActions, CanBeChosenAndLearned) {
  const auto agent = taught(30);
  agent->add_actions(1);
  const std::vector<std::uint8_t> only = {0, 0, 0, 0, 1};
  EXPECT_EQ(agent->choose({.x = x0, .actions = {only}}).action, 4U);
  EXPECT_THROW(agent->choose({.x = x0, .actions = {std::vector<std::uint8_t>(action_count, 1)}}), Error);
  learn_all(*agent, random_events(40, 6, context_size, 5));
  for (const Event& e : random_events(50, 8)) EXPECT_LT(agent->choose({.x = e.x}).action, 5U);
  EXPECT_NO_THROW(agent->clone()->choose({.x = x0, .actions = {only}}));
}

TEST_P(NewActions, AreSavedWithTheRest) {
  Bandit bandit(small_spec(GetParam()), small_setup());
  play(bandit, 0, 20);
  EXPECT_EQ(bandit.add_actions(2), action_count);
  bandit.retire(1);
  play(bandit, 20, 40);
  Bandit loaded = Bandit::from_saved(bandit.saved(), "it");
  EXPECT_TRUE(loaded.retired(1));
  EXPECT_EQ(play(loaded, 40, 100), play(bandit, 40, 100));
  EXPECT_EQ(loaded.saved(), bandit.saved());
}

INSTANTIATE_TEST_SUITE_P(Catalogue, NewActions, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });
INSTANTIATE_TEST_SUITE_P(Variants, NewActions,
                         testing::Values("pi-ts,noise=learned-per-action", "pi-ts,noise=learned",
                                         "neural-ucb,design=full", "pi-ts,optimizer=rmsprop", "pi-ts,inner_steps=3",
                                         "pi-ts:exact,model=linear", "boltzmann,gumbel=true",
                                         "logistic-ts,diagonal=true"),
                         [](const auto& agent) { return plain_name(agent.param); });

// Particles of new actions are draws from the prior, N(0, 1/(precision · inputs)), those of the others keep their bits.
TEST(NewActions, OfParticlesAreDrawnFromThePrior) {
  PiTsConfig config;
  config.posterior.particles = 3000;
  config.posterior.model.kind = ModelKind::linear;
  config.posterior.model.prior_precision = 2.0;
  PiTs agent(config, small_setup());
  const Particles before = copy_of(agent.posterior().particles());
  agent.add_actions(1);
  const ParticlesView after = agent.posterior().particles();
  const Layer old = RewardModel(config.posterior.model, context_size, action_count).network().layers().back();
  const Layer& last = agent.posterior().model().network().layers().back();
  double sum = 0.0, squares = 0.0;
  const double n = 3000.0 * context_size;
  for (std::size_t i = 0; i < 3000; ++i) {
    for (std::size_t j = 0; j < action_count * context_size; ++j) {
      ASSERT_EQ(after(i, last.weights + j), before(i, old.weights + j));
    }
    for (std::size_t a = 0; a < action_count; ++a) ASSERT_EQ(after(i, last.biases + a), before(i, old.biases + a));
    for (std::size_t j = 0; j < context_size; ++j) {
      const double w = after(i, last.weights + action_count * context_size + j);
      sum += w;
      squares += w * w;
    }
  }
  const double variance = 1.0 / (2.0 * context_size);
  EXPECT_NEAR(sum / n, 0.0, 5.0 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n, variance, 5.0 * variance * std::sqrt(2.0 / n));
}

TEST(NewActions, OfExactPosteriorsAreThePrior) {
  LinTs agent({}, small_setup());
  learn_all(agent, random_events(30, 5));
  agent.add_actions(1);
  const LinTs fresh({}, small_setup());
  EXPECT_EQ(agent.posterior(4).mean(), fresh.posterior(0).mean());
  EXPECT_EQ(agent.posterior(4).precision(), fresh.posterior(0).precision());
}

// Three arms, of which a better one than the best arrives every 150 rounds: the last must be found. The share of the
// last 100 decisions is far from what chance (1/6) gives.
class Arrivals : public testing::TestWithParam<const char*> {};

TEST_P(Arrivals, AreFound) {
  Bandit bandit(GetParam(), {.context_size = 2, .actions = 3, .seed = 4});
  Stream noise({.seed = 11, .purpose = Purpose::target_sample});
  int newest = 0;
  for (int t = 0; t < 600; ++t) {
    if (t % 150 == 149 && t < 500) bandit.add_actions();
    const std::vector<float> x = {1.0F, static_cast<float>(noise.normal())};
    const Choice choice = bandit.decide(x);
    const double mean = 0.2 * choice.action + 0.05 * x[1];
    bandit.learn(choice.id, static_cast<float>(mean + 0.05 * noise.normal()));
    if (t >= 500) newest += choice.action == 5U ? 1 : 0;
  }
  EXPECT_EQ(bandit.setup().actions, 6U);
  EXPECT_GT(newest, 80);
}

INSTANTIATE_TEST_SUITE_P(Agents, Arrivals, testing::Values("lin-ts", "pi-ts", "ucb1,range=0.2", "neural-linear"),
                         [](const auto& agent) { return plain_name(agent.param); });

TEST(RetiredActions, AreNeverChosenAndStillLearned) {
  Bandit bandit("uniform", small_setup());
  const Choice waiting = bandit.decide(x0, {std::vector<std::uint8_t>{0, 1, 0, 0}});
  bandit.retire(1);
  std::vector<float> p(action_count);
  bandit.probabilities(x0, p);
  EXPECT_EQ(p[1], 0.0F);
  for (int t = 0; t < 200; ++t) EXPECT_NE(bandit.decide(x0).action, 1U);
  for (const Choice& choice : bandit.rank(x0, 9)) EXPECT_NE(choice.action, 1U);
  EXPECT_TRUE(bandit.learn(waiting.id, 1.0F));
  EXPECT_THROW(bandit.decide(x0, {std::vector<std::uint8_t>{0, 1, 0, 0}}), Error);
}

TEST(RetiredActions, LeaveAtLeastOne) {
  Bandit bandit("uniform", small_setup());
  for (const Action a : {0U, 1U, 3U, 3U}) bandit.retire(a);
  expect_mentions(message_of([&] { bandit.retire(2); }), {"action 2", "only one"});
  expect_mentions(message_of([&] { bandit.retire(9); }), {"below 4", "9"});
  EXPECT_EQ(bandit.add_actions(), 4U);
  EXPECT_NO_THROW(bandit.retire(2));
  EXPECT_EQ(bandit.decide(x0).action, 4U);
}

TEST(NewActions, AreRefusedWhereTheProbabilitiesAreGiven) {
  Bandit bandit("fixed,probabilities=0.4x0.3x0.2x0.1", small_setup());
  expect_mentions(message_of([&] { bandit.add_actions(); }), {"fixed", "4 actions"});
  EXPECT_EQ(bandit.setup().actions, action_count);
}

// 9·50 + 50 + 50·29 + 29 = 1979 parameters; an action more makes 2030, and the whole design matrix takes 2000.
TEST(NewActions, AreRefusedBeforeAnythingGrows) {
  Bandit bandit("neural-ucb,design=full,hidden=50", {.context_size = 9, .actions = 29});
  const std::vector<float> x(9, 0.5F);
  EXPECT_THROW(bandit.add_actions(1), Error);
  EXPECT_EQ(bandit.setup().actions, 29U);
  for (int i = 0; i < 60; ++i) EXPECT_LT(bandit.decide(x).action, 29U);
}

}  // namespace
}  // namespace pits::test
