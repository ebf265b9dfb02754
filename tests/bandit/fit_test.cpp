// Logged rounds: learned as if they had been played, and what the bandit would have earned on them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"

namespace pits::test {
namespace {

struct Log {
  Matrix<float> contexts;
  std::vector<Action> actions;
  std::vector<float> rewards;
  std::vector<float> propensities;

  explicit Log(const std::vector<Event>& events) : contexts(events.size(), context_size) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      std::ranges::copy(events[i].x, contexts.row(i).begin());
      actions.push_back(events[i].action);
      rewards.push_back(events[i].reward);
      propensities.push_back(1.0F / action_count);
    }
  }
  LoggedRounds rounds(bool with_propensities = false) const {
    return {contexts, actions, rewards,
            with_propensities ? std::span<const float>(propensities) : std::span<const float>()};
  }
};

class WarmStart : public testing::TestWithParam<std::string> {};

TEST_P(WarmStart, LearnsWhatPlayingTheRoundsWouldHaveTaught) {
  const std::vector<Event> events = random_events(40, 5);
  Bandit fitted(small_spec(GetParam()), small_setup());
  EXPECT_FALSE(fitted.fit(Log(events).rounds()).has_value());
  const auto agent = small_agent(GetParam(), small_setup());
  learn_all(*agent, events);
  Archive archive;
  agent->state(archive);
  EXPECT_EQ(agent_state(fitted), archive.bytes());
}

INSTANTIATE_TEST_SUITE_P(Catalogue, WarmStart, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });

// A policy with known probabilities on rewards with known means earns Σ p_a mean_a; the log was played evenly, so a
// weight is 4 p_a, and the standard error of the self-normalised mean is √(Σ w² (r − v)²)/Σ w.
TEST(LoggedValue, IsWhatThePolicyWouldHaveEarned) {
  Stream stream({.seed = 3, .purpose = Purpose::target_sample});
  std::vector<Event> events = random_events(4000, 9);
  for (Event& e : events) e.reward = static_cast<float>(e.action + stream.normal());
  const std::vector<double> p = {0.1, 0.2, 0.3, 0.4};
  Bandit bandit("fixed,probabilities=0.1x0.2x0.3x0.4", small_setup());
  const double expected = 0.2 + 2 * 0.3 + 3 * 0.4;
  double squares = 0.0, weights = 0.0;
  for (const Event& e : events) {
    const double w = 4.0 * p[e.action];
    squares += w * w * (e.reward - expected) * (e.reward - expected);
    weights += w;
  }
  EXPECT_NEAR(bandit.fit(Log(events).rounds(true)).value(), expected, 5.0 * std::sqrt(squares) / weights);
}

// It is honest: a round is weighed by what was known before it, so that a learner earns more as it learns.
TEST(LoggedValue, OfALearnerIsAboveThatOfChance) {
  const std::vector<Event> events = random_events(600, 9);
  double mean = 0.0;
  for (const Event& e : events) mean += e.reward / 600.0;
  Bandit bandit("lin-ts", small_setup(), {.propensity_draws = 100});
  EXPECT_GT(bandit.fit(Log(events).rounds(true)).value(), mean + 0.1);
}

TEST(WarmStart, StopsWhereTheCallerThrows) {
  const std::vector<Event> events = random_events(20, 5);
  Bandit stopped("lin-ts", small_setup()), shorter("lin-ts", small_setup());
  int learned = 0;
  const auto stop = [&] {
    if (++learned == 7) throw std::runtime_error("enough");
  };
  EXPECT_THROW(stopped.fit(Log(events).rounds(), stop), std::runtime_error);
  shorter.fit(Log({events.begin(), events.begin() + 7}).rounds());
  EXPECT_EQ(stopped.saved(), shorter.saved());
}

TEST(WarmStart, RefusesRoundsThatDoNotFitAndLearnsNothing) {
  Bandit bandit("lin-ts", small_setup());
  const std::string before = bandit.saved();
  const auto refused = [&](auto spoil, const std::vector<std::string>& said) {
    Log log(random_events(5, 5));
    spoil(log);
    expect_mentions(message_of([&] { bandit.fit(log.rounds(true)); }), said);
    EXPECT_EQ(bandit.saved(), before);
  };
  refused([](Log& log) { log.rewards.pop_back(); }, {"5 logged contexts"});
  refused([](Log& log) { log.propensities.pop_back(); }, {"5 logged contexts"});
  refused([](Log& log) { log.actions[4] = 4; }, {"below 4"});
  refused([](Log& log) { log.rewards[4] = std::numeric_limits<float>::infinity(); }, {"finite"});
  refused([](Log& log) { log.contexts(4, 1) = std::numeric_limits<float>::quiet_NaN(); }, {"finite"});
  refused([](Log& log) { log.propensities[4] = 0.0F; }, {"propensity", "above 0"});
}

}  // namespace
}  // namespace pits::test
