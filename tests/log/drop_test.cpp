// Old events that nothing needs are dropped: what is left is a whole log, and everything goes on as if it had all of
// them. Compared with the same life of a bandit whose log keeps everything.
#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "log/service.h"
#include "pits/core/random.h"
#include "pits/log/audit.h"
#include "pits/log/drop.h"
#include "pits/log/event_json.h"

namespace pits::test {
namespace {

constexpr double day = 86'400.0;

LiveConfig config_of(double event_retention, double retention = 0.0) {
  return {.propensity_draws = 20,
          .rewards = RewardRule::first,
          .window = 2 * day,
          .retention = retention,
          .event_retention = event_retention};
}

// Days of decisions, of which some are rewarded at once, some a day later and some never; with keys, new actions,
// retired ones and new settings among them. Answers to rewards of all ages.
struct Life {
  Service service;
  Stream random{{.seed = 9, .purpose = Purpose::target_sample}};
  std::vector<Choice> made;
  std::vector<Answer> answers;

  explicit Life(const LiveConfig& config) : service(live_setup("lin-ts", config)) {}

  void a_day(int number) {
    LiveBandit& live = *service.live;
    if (number == 4) live.add_actions({"e", "f"});
    if (number == 6) live.retire("b");
    for (int i = 0; i < 6; ++i) {
      service.clock.pass(day / 6);
      live.flush();  // windows close
      live.catch_up();
      const std::vector<float> x{static_cast<float>(random.normal()), 1.0F, 0.5F};
      made.push_back(live.decide(x, {}, {.key = i == 0 ? fmt::format("day {}", number) : ""}));
      live.flush();  // its window starts now
      for (const std::size_t back : {0U, 4U, 9U, 30U, 90U}) {
        if (back >= made.size() || random.index(3) > 0) continue;
        answers.push_back(live.reward({made[made.size() - 1 - back].id, 1.0F}));
      }
    }
    if (number == 8) {
      LiveConfig config = live.config();
      config.most_rewards = 77;
      live.change_config(config);
    }
    live.saved();  // everything is learned, and what is due was done
  }
};

TEST(Drop, NothingElseChanges) {
  Life all(config_of(0.0)), dropping(config_of(10.0));
  for (int d = 0; d < 40; ++d) {
    all.a_day(d);
    dropping.a_day(d);
    if (d % 7 == 6) {
      all.service.open();
      dropping.service.open({.recovery_events = d % 2 == 0 ? 10U : 65536U});
    }
    if (d == 20) {
      EXPECT_GT(dropping.service.store->oldest(), 50U);
    }
  }
  EXPECT_EQ(dropping.answers, all.answers);
  for (std::size_t i = 0; i < all.made.size(); ++i) {
    ASSERT_EQ(dropping.made[i].action, all.made[i].action) << i;
    ASSERT_EQ(dropping.made[i].propensity, all.made[i].propensity) << i;
  }
  const MemoryStore &kept = *dropping.service.store, &whole = *all.service.store;
  EXPECT_EQ(dropping.service.live->config().most_rewards, 77);
  EXPECT_EQ(dropping.service.live->actions(), all.service.live->actions());
  EXPECT_EQ(dropping.service.live->retired(), all.service.live->retired());
  EXPECT_FALSE(dropping.service.live->find("day 3"));
  EXPECT_EQ(dropping.service.live->find("day 39"), all.service.live->find("day 39"));
  for (int i = 0; i < 5; ++i) dropping.service.live->decide(std::vector<float>{0.5F, 1.0F, 0.5F});
  dropping.service.live->flush();
  const LogSummary summary = check_log(kept);
  EXPECT_EQ(summary.oldest, kept.oldest());
  EXPECT_LT(summary.decisions, 100U);
  EXPECT_GT(summary.decisions, 55U) << "ten days and a little more";
  EXPECT_EQ(check_log(whole).decisions, 240U);
  EXPECT_EQ(check_log(whole).oldest, 0U);
  const Verification found = verify_log(kept);
  EXPECT_EQ(found.different, 0U);
  EXPECT_GE(found.same, 5U);
  EXPECT_EQ(found.same + found.out_of_reach, summary.decisions);
}

// Decisions that have not settled, and what a replay needs, hold everything back that follows them.
TEST(Drop, KeepsWhatIsStillNeeded) {
  LiveConfig config = config_of(10.0);
  config.window = 0.0;  // nothing settles without a reward
  Service service(live_setup("lin-ts", config));
  const std::vector<float> x{0.3F, -1.0F, 0.5F};
  std::vector<DecisionId> ids;
  for (int i = 0; i < 20; ++i) {
    ids.push_back(service.live->decide(x).id);
    service.live->flush();  // a group of its own
  }
  for (int i = 0; i < 20; ++i) {
    if (i != 11) service.live->reward({ids[static_cast<std::size_t>(i)], 1.0F});
  }
  service.clock.pass(20 * day);
  service.live->decide(x);
  service.live->reward({service.live->decide(x).id, 1.0F});
  service.live->saved();
  const EventNumber oldest = service.store->oldest();
  ASSERT_GT(oldest, 0U);
  const auto kept = all_of<Decided>(*service.store);
  EXPECT_EQ(kept.front().id, ids[11]);
  EXPECT_EQ(service.live->reward({ids[11], 1.0F}), Answer::accepted);
  EXPECT_EQ(service.live->reward({ids[3], 1.0F}), Answer::duplicate);
  service.live->saved();
  const auto erased = all_of<Erased>(*service.store);
  ASSERT_FALSE(erased.empty());
  EXPECT_EQ(erased.back().reason, "event_retention");
  EXPECT_EQ(erased.back().dropped, oldest);
  EXPECT_EQ(erased.back().decisions, 11U);
  service.open();  // and looks again
  EXPECT_EQ(service.live->reward({ids[3], 1.0F}), Answer::duplicate);
  EXPECT_EQ(service.live->reward({ids[11], 1.0F}), Answer::duplicate);
}

// A log that misses events and does not say why is damaged; its lines cannot be imported.
TEST(Drop, AGapThatIsNotRecordedIsDamage) {
  Life life(config_of(10.0));
  for (int d = 0; d < 20; ++d) life.a_day(d);
  life.service.live.reset();
  MemoryStore& store = *life.service.store;
  const EventNumber oldest = store.oldest();
  ASSERT_GT(oldest, 0U);
  check_log(store);
  MemoryStore copy;
  LogImport import(copy);
  expect_mentions(message_of([&] {
                    for_each_event(store, [&](EventNumber number, const GroupTime& time, const pits::Event& event) {
                      import.add({.number = number, .time = time, .event = event});
                    });
                  }),
                  {"must follow", "dropped"});
  const EventNumber later = store.group_holding(oldest + 30)->first();
  const auto head = store.group_holding(1);
  GroupWriter summary;
  for (EventNumber n = 1; n <= head->last(); ++n) {
    std::visit([&](const auto& e) { summary.add(e); }, head->event(n));
  }
  store.drop_events(later, summary.finish(head->time()), {});
  expect_mentions(message_of([&] { check_log(store); }), {"missing", "does not say why"});
}

}  // namespace
}  // namespace pits::test
