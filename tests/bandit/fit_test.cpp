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
  agent->archive(archive);
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

// Two actions whose posteriors stay at their priors, so that both have probability 1/2: 2000 rewards move a mean by
// 2.5e-10, less than a thousandth of its standard deviation. Action a pays a.
struct EvenLog {
  AgentSetup setup{.context_size = 1, .actions = 2};
  Matrix<float> contexts;
  std::vector<Action> actions;
  std::vector<float> rewards, propensities;

  explicit EvenLog(std::size_t n, std::uint64_t seed) : contexts(n, 1), propensities(n, 0.5F) {
    setup.seed = seed;
    for (std::size_t i = 0; i < n; ++i) {
      contexts(i, 0) = 1.0F;
      actions.push_back(i % 2);
      rewards.push_back(static_cast<float>(i % 2));
    }
  }
  Bandit bandit() const { return {"bernoulli-ts,alpha=1e12,beta=1e12", setup, {.propensity_draws = 100}}; }
  LoggedRounds rows(std::size_t first, std::size_t n) const {
    return {contexts.view().row_block(first, n), std::span(actions).subspan(first, n),
            std::span(rewards).subspan(first, n), std::span(propensities).subspan(first, n)};
  }
};

// A row's estimate has the standard deviation 0.05. The value is N/(N + E), N a sum over the n/2 odd rows and E over
// the even ones: its standard deviation is 0.05/√n, and the mean square of 20 such has a relative one of √(2/20).
// Errors that all rows share would leave 0.05.
TEST(LoggedValue, HasErrorsThatAverageOutOverRows) {
  for (const std::size_t n : {200U, 2000U}) {
    double at_once = 0.0, in_pairs = 0.0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const EvenLog log(n, seed);
      at_once += std::pow(log.bandit().fit(log.rows(0, n)).value() - 0.5, 2) / 20.0;
      Bandit bandit = log.bandit();
      double mean = 0.0;
      for (std::size_t i = 0; i < n; i += 2) mean += bandit.fit(log.rows(i, 2)).value() * 2.0 / static_cast<double>(n);
      in_pairs += std::pow(mean - 0.5, 2) / 20.0;
    }
    const double variance = 0.05 * 0.05 / static_cast<double>(n), bound = 5.0 * std::sqrt(2.0 / 20.0);
    EXPECT_LT(at_once, variance * (1.0 + bound)) << n;
    EXPECT_LT(in_pairs, variance * (1.0 + bound)) << n;
    EXPECT_GT(at_once, 0.1 * variance) << n;
  }
}

TEST(LoggedValue, IsTheSameAfterALoad) {
  const EvenLog log(40, 3);
  Bandit bandit = log.bandit();
  bandit.fit(log.rows(0, 20));
  Bandit loaded = Bandit::from_saved(bandit.saved(), "it");
  EXPECT_EQ(loaded.fit(log.rows(20, 20)), bandit.fit(log.rows(20, 20)));
  EXPECT_EQ(loaded.saved(), bandit.saved());
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
