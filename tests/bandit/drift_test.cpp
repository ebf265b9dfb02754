// Rewards that switch in the middle of a run: agents that forget follow, with a window as with a discount.
#include <gtest/gtest.h>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"

namespace pits::test {
namespace {

constexpr std::size_t arms = 3;

// The best arm pays 0.8, the others 0.3 and 0.2, give or take 0.1. It is arm 0 for 300 events, then arm 1 for 150.
std::vector<Event> switching_events() {
  Stream stream({.seed = 8, .purpose = Purpose::target_sample});
  std::vector<Event> events;
  for (int t = 0; t < 450; ++t) {
    Event e{.x = {1.0F, stream.uniform_float()}, .action = stream.index(arms), .reward = 0.0F};
    const Action best = t < 300 ? 0 : 1;
    const double mean = e.action == best ? 0.8 : e.action == 2 ? 0.3 : 0.2;
    e.reward = static_cast<float>(mean + 0.2 * (stream.uniform() - 0.5));
    events.push_back(e);
  }
  return events;
}

// The probability of each arm after those events, averaged over contexts.
std::vector<double> preferences(const std::string& spec, const std::string& forgetting) {
  const bool noisy = spec.starts_with("langevin");  // plain steps only
  const auto recipe =
      find_recipe(agent_catalogue(), "agent", parse_spec(spec + (noisy ? ",batch=64" : "") + forgetting));
  Fields fields = recipe->fields();
  for (const auto& [name, value] : {std::pair{"hidden", "8"},
                                    {"particles", "5"},
                                    {"batch", "64"},
                                    {"schedule", "constant"},
                                    {"optimizer", noisy ? "sgd" : "adam"},
                                    {"step", noisy ? "2e-5" : "0.01"},
                                    {"train_every", "10"},
                                    {"train_steps", "40"}}) {
    if (fields.has(name)) fields.set(name, value);
  }
  const auto agent = recipe->make({.context_size = 2, .actions = arms, .seed = 2});
  learn_all(*agent, switching_events());
  std::vector<double> mean(arms, 0.0);
  std::vector<float> p(arms);
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> x = {1.0F, (static_cast<float>(i) + 0.5F) / 20.0F};
    agent->propensities({.x = x, .id = static_cast<DecisionId>(i)}, 200, p);
    for (std::size_t a = 0; a < arms; ++a) mean[a] += p[a] / 20.0;
  }
  return mean;
}

bool learns(const std::string& spec) { return !spec.starts_with("uniform") && !spec.starts_with("fixed"); }

class Drift : public testing::TestWithParam<std::string> {};

TEST_P(Drift, IsFollowedWithAWindow) {
  if (!learns(GetParam())) GTEST_SKIP() << "does not learn";
  EXPECT_GT(preferences(GetParam(), ",capacity=100")[1], 0.6);
}

TEST_P(Drift, IsFollowedWithADiscount) {
  if (!learns(GetParam())) GTEST_SKIP() << "does not learn";
  const bool finds_change_itself = GetParam() == "pi-ts:auto" || GetParam() == "pi-ts:fast";
  EXPECT_GT(preferences(GetParam(), finds_change_itself ? "" : ",discount=0.97")[1], 0.6);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Drift, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });

// Without forgetting the old best arm, 0.8 in two thirds of its pulls, still looks best.
TEST(Drift, IsMissedWithoutForgetting) {
  for (const std::string spec :
       {"lin-ts", "bernoulli-ts", "gaussian-ts", "ucb1,range=0.1", "lin-ucb,alpha=0.1", "logistic-ts"}) {
    EXPECT_LT(preferences(spec, "")[1], 0.4) << spec;
  }
}

// A window is exactly an agent that has met its last events only.
TEST(Window, HoldsWhatItsLastEventsTeach) {
  for (const std::string spec : {"lin-ts", "gaussian-ts", "bernoulli-ts", "lin-ucb", "logistic-ts", "ucb1"}) {
    const std::string free = spec == "bernoulli-ts" || spec == "gaussian-ts" ? spec : spec + ",initial_pulls=0";
    const auto windowed = small_agent(free + ",capacity=25", small_setup());
    const auto young = small_agent(free, small_setup());
    const std::vector<Event> events = random_events(140, 5);
    learn_all(*windowed, events);
    learn_all(*young, {events.end() - 25, events.end()});
    EXPECT_EQ(choices(*windowed, 300), choices(*young, 300)) << spec;
  }
}

TEST(Forgetting, GoesOneWayOnly) {
  expect_mentions(message_of([] { Bandit("lin-ts,capacity=5,discount=0.9", small_setup()); }),
                  {"capacity", "discount"});
  expect_mentions(message_of([] { Bandit("lin-ts,discount=0", small_setup()); }), {"discount", "above 0"});
  expect_mentions(message_of([] { Bandit("langevin,discount=0.9", small_setup()); }), {"discount", "minibatch"});
  expect_mentions(message_of([] { Bandit("neural-ts,hidden=4,design=full,discount=0.9", small_setup()); }),
                  {"design=diagonal"});
}

}  // namespace
}  // namespace pits::test
