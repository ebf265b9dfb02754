// The calls of a live bandit that nobody waits for.
#include <gtest/gtest.h>

#include <thread>

#include <future>

#include "experiment/expect_error.h"
#include "log/service.h"

namespace pits::test {
namespace {

const std::vector<float> x(context_size, 0.5F);

std::string message_in(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

// What a call was answered, once it was.
struct Told {
  std::promise<std::pair<std::vector<Answer>, std::string>> promise;

  LiveBandit::Answered done() {
    return [this](std::vector<Answer> answers, const std::exception_ptr& error) {
      promise.set_value({std::move(answers), error ? message_in(error) : ""});
    };
  }
  std::pair<std::vector<Answer>, std::string> get() { return promise.get_future().get(); }
};

struct Written {
  std::promise<std::pair<std::optional<Decided>, std::string>> promise;

  LiveBandit::Written done() {
    return [this](const Decided* decided, const std::exception_ptr& error) {
      promise.set_value({decided == nullptr ? std::nullopt : std::optional(*decided), error ? message_in(error) : ""});
    };
  }
  std::pair<std::optional<Decided>, std::string> get() { return promise.get_future().get(); }
};

TEST(LiveCalls, MadeAndWrittenIsDecided) {
  Service one(live_setup("lin-ts")), two(live_setup("lin-ts"));
  for (const Event& e : random_events(20, 5)) {
    const Choice choice = one.live->decide(e.x);
    const Decided made = two.live->make(e.x);
    EXPECT_EQ(made.id, choice.id);
    EXPECT_EQ(made.action, choice.action);
    EXPECT_EQ(made.propensities[made.action], choice.propensity);
    Written written;
    two.live->write(made, written.done());
    const auto [decided, problem] = written.get();
    EXPECT_EQ(decided.value().id, made.id);
    EXPECT_EQ(two.live->reward({made.id, e.reward}), Answer::accepted);  // it is durable
    one.live->reward({choice.id, e.reward});
    one.live->catch_up();
    two.live->catch_up();
  }
  EXPECT_EQ(one.live->saved(), two.live->saved());
}

TEST(LiveCalls, ARepeatedKeyGivesTheEarlierDecision) {
  Service service(live_setup("lin-ts"));
  Decided first = service.live->make(x, {}, {.key = "visit"});
  Decided second = service.live->make(std::vector<float>(context_size, -1.0F), {}, {.key = "visit"});
  ASSERT_NE(first.id, second.id);
  Written a, b;
  service.live->write(first, a.done());
  service.live->write(second, b.done());
  EXPECT_EQ(a.get().first.value().id, first.id);
  const Decided earlier = b.get().first.value();
  EXPECT_EQ(earlier.id, first.id);
  EXPECT_EQ(earlier.x, first.x);
  EXPECT_EQ(earlier.propensities, first.propensities);
  EXPECT_EQ(service.live->reward({second.id, 1.0F}), Answer::unknown);
}

TEST(LiveCalls, AreAnsweredInOneGroup) {
  Service service(live_setup(
      "lin-ts", {.propensity_draws = 20, .rewards = RewardRule::first, .reward_range = log_reward_range("0,1")}));
  const DecisionId a = service.live->decide(x).id, b = service.live->decide(x).id, c = service.live->decide(x).id;
  Told rewards, again, bad, activated, cancelled;
  service.live->reward({{a, 1.0F, "k"}, {a, 1.0F, "k"}, {999, 1.0F}}, rewards.done());
  service.live->reward({{b, 1.0F}, {b, 7.0F}}, bad.done());  // as a whole or not at all
  service.live->activate(b, nullptr, activated.done());
  service.live->cancel(c, nullptr, cancelled.done());
  EXPECT_EQ(rewards.get().first, (std::vector{Answer::accepted, Answer::duplicate, Answer::unknown}));
  const auto refused = bad.get();
  EXPECT_TRUE(refused.first.empty());
  expect_mentions(refused.second, {"between 0 and 1", "7"});
  EXPECT_EQ(activated.get().first, std::vector{Answer::accepted});
  EXPECT_EQ(cancelled.get().first, std::vector{Answer::accepted});
  service.live->reward({{b, 1.0F}}, again.done());
  EXPECT_EQ(again.get().first, std::vector{Answer::accepted});
  while (service.live->waiting() > 0) std::this_thread::yield();  // the learner may be asking for the settings
}

TEST(LiveCalls, SayThatTheDiskIsFull) {
  Service service(live_setup("lin-ts"));
  const DecisionId id = service.live->decide(x).id;
  service.live->flush();
  service.store->fails = true;
  Told told;
  Written written;
  service.live->reward({{id, 1.0F}}, told.done());
  service.live->write(service.live->make(x), written.done());
  const auto [answers, problem] = told.get();
  EXPECT_TRUE(answers.empty());
  expect_mentions(problem, {"No space left"});
  const auto [decided, why] = written.get();
  EXPECT_FALSE(decided.has_value());
  expect_mentions(why, {"No space left"});
  service.store->fails = false;
  Told later;
  service.live->reward({{id, 1.0F}}, later.done());
  EXPECT_EQ(later.get().first, std::vector{Answer::accepted});
}

// Also where the bandit ends while its disk fails.
TEST(LiveCalls, AreAnsweredWhateverHappens) {
  Service service(live_setup("lin-ts"));
  const DecisionId id = service.live->decide(x).id;
  service.live->flush();
  service.store->fails = true;
  std::vector<Told> told(50);
  for (Told& one : told) service.live->reward({{id, 1.0F}}, one.done());
  service.live.reset();
  for (Told& one : told) EXPECT_FALSE(one.get().second.empty());
}

TEST(LiveCalls, ARankingStartsWithTheDecision) {
  for (const char* agent : {"lin-ts", "pi-ts"}) {
    Service service(live_setup(agent));
    for (const Event& e : random_events(30, 4)) {
      std::vector<Action> ranking;
      const Decided made = service.live->make(e.x, {}, {.allowed = {"a", "c", "d"}}, &ranking);
      EXPECT_EQ(ranking.front(), made.action);
      EXPECT_EQ(std::set<Action>(ranking.begin(), ranking.end()), (std::set<Action>{0, 2, 3}));
      EXPECT_EQ(ranking.size(), 3U);
      service.live->reward({made.id, e.reward});
    }
  }
}

}  // namespace
}  // namespace pits::test
