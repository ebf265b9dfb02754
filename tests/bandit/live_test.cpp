// Decisions on many threads while one teaches. Run under tsan too: PRESET=tsan scripts/test -R LiveBandit
#include "pits/bandit/live_bandit.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"

namespace pits::test {
namespace {

const std::vector<float> x0 = {0.3F, -1.0F, 0.5F};

class LiveAgent : public testing::TestWithParam<std::string> {};

// On one thread it is the bandit, bit for bit.
TEST_P(LiveAgent, DecidesAsTheBanditDoes) {
  Bandit plain(small_spec(GetParam()), small_setup(), {.floor = 0.1});
  LiveBandit live(Bandit(small_spec(GetParam()), small_setup(), {.floor = 0.1}));
  const std::vector<Event> rounds = random_events(60, 4);
  for (DecisionId t = 0; t < rounds.size(); ++t) {
    const Choice expected = plain.decide(rounds[t].x);
    const Choice choice = live.decide(rounds[t].x);
    ASSERT_EQ(choice.action, expected.action);
    ASSERT_EQ(choice.id, t);
    ASSERT_EQ(choice.propensity, expected.propensity);
    plain.learn(t, rounds[t].reward);
    live.update([&](Bandit& bandit) { EXPECT_TRUE(bandit.learn(t, rounds[t].reward)); });
  }
  live.update([&](Bandit& bandit) { EXPECT_EQ(bandit.saved(), plain.saved()); });
}

INSTANTIATE_TEST_SUITE_P(Catalogue, LiveAgent, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });

// Seven threads decide while one learns their rewards in batches, adds actions and retires one.
class LiveBanditUnderLoad : public testing::TestWithParam<std::string> {};

TEST_P(LiveBanditUnderLoad, LosesNoDecisionAndGivesEveryIdOnce) {
  constexpr int threads = 7, each = 400;
  LiveBandit live(Bandit(small_spec(GetParam()), small_setup()));
  std::mutex lock;  // of the test's own list
  std::vector<Choice> made;
  std::atomic<int> running{threads};
  std::vector<std::thread> readers;
  for (int r = 0; r < threads; ++r) {
    readers.emplace_back([&, r] {
      for (const Event& e : random_events(each, static_cast<std::uint64_t>(r))) {
        const Choice choice = live.decide(e.x);
        const std::lock_guard<std::mutex> guard(lock);
        made.push_back(choice);
      }
      --running;
    });
  }
  std::size_t learned = 0;
  bool grown = false;
  for (bool last = false; !last;) {
    last = running == 0;
    std::vector<Choice> seen;
    {
      const std::lock_guard<std::mutex> guard(lock);
      seen.swap(made);
    }
    live.update([&](Bandit& bandit) {
      for (const Choice& choice : seen) learned += bandit.learn(choice.id, 0.5F) ? 1 : 0;
      if (learned > 500 && !std::exchange(grown, true)) {
        bandit.add_actions(1);
        bandit.retire(0);
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  live.update([&](Bandit& bandit) {
    EXPECT_EQ(learned, threads * each);
    EXPECT_EQ(bandit.pending(), 0U);
    EXPECT_EQ(bandit.setup().actions, action_count + 1);
  });
  EXPECT_EQ(live.decide(x0).id, threads * each);
  EXPECT_NE(live.decide(x0).action, 0U);
}

INSTANTIATE_TEST_SUITE_P(Agents, LiveBanditUnderLoad,
                         testing::Values("pi-ts", "lin-ts", "boltzmann", "neural-ts", "vi-ts"),
                         [](const auto& agent) { return plain_name(agent.param); });

// What an update that fails has half done is not decided by.
TEST(LiveBandit, AnUpdateThatFailsIsNotPublished) {
  LiveBandit live(Bandit("bernoulli-ts", small_setup()));
  std::vector<float> before(action_count), after(action_count);
  live.probabilities(x0, before);
  const auto half = [&](Bandit& bandit) {
    for (int i = 0; i < 50; ++i) bandit.learn(x0, 2, 1.0F);
    bandit.learn(x0, 2, 7.0F);
  };
  EXPECT_THROW(live.update(half), Error);
  live.probabilities(x0, after);
  EXPECT_EQ(after, before);
  EXPECT_THROW(live.probabilities(x0, std::span(after).first(2)), Error);
}

TEST(LiveBandit, DefaultsForRewardsThatNeverCome) {
  LiveBandit live(Bandit("uniform", small_setup(), {.default_after = 3}));
  for (int i = 0; i < 10; ++i) live.decide(x0);
  live.update([](Bandit& bandit) { EXPECT_TRUE(bandit.learn(0, 1.0F)); });  // late, but before the default
  live.update([](Bandit& bandit) {
    EXPECT_EQ(bandit.pending(), 2U);
    EXPECT_FALSE(bandit.learn(1, 1.0F));
  });
}

TEST(LiveBandit, RefusesDecisionsInsideAnUpdate) {
  LiveBandit live(Bandit("uniform", small_setup()));
  live.decide(x0);
  EXPECT_THROW(live.update([](Bandit& bandit) { bandit.decide(x0); }), Error);
  EXPECT_EQ(live.decide(x0).id, 1U);
  live.update([](Bandit& bandit) { EXPECT_EQ(bandit.pending(), 2U); });
}

TEST(LiveBandit, GoesOnWithTheIdsOfABanditItIsGiven) {
  Bandit other("uniform", small_setup());
  for (int i = 0; i < 5; ++i) other.decide(x0);
  LiveBandit live(Bandit("uniform", small_setup()));
  live.decide(x0);
  live.update([&](Bandit& bandit) { bandit = std::move(other); });
  EXPECT_EQ(live.decide(x0).id, 5U);
}

}  // namespace
}  // namespace pits::test
