// Decisions whose record was lost and that come back with their tokens; decisions that were never logged.
#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "log/service.h"
#include "log/shop.h"
#include "pits/log/audit.h"
#include "pits/log/event_json.h"
#include "pits/log/teach.h"

namespace pits::test {
namespace {

using Settlements = std::map<DecisionId, Settlement>;

std::shared_ptr<Restored> record_of(DecisionId id, Microseconds utc) {
  Restored record;
  record.id = id;
  record.action = 1;
  record.propensities = {0.25F, 0.75F};
  record.utc = utc;
  return std::make_shared<Restored>(record);
}

Answer reward(Shop& shop, DecisionId id, float value, const std::shared_ptr<const Restored>& record) {
  return shop.in_group([&](Ledger& l) { return l.reward({id, value, "", record}); });
}

TEST(RestoredDecision, IsRecordedAndNotLearnedWhereOthersSettleToADefault) {
  Shop shop({.rewards = RewardRule::first, .window = 10});
  const auto record = record_of(5, shop.clock.utc());
  EXPECT_EQ(reward(shop, 5, 1.0F, nullptr), Answer::unknown);
  EXPECT_EQ(reward(shop, 5, 1.0F, record), Answer::accepted);
  EXPECT_EQ(shop.settled(), (Settlements{{5, {1.0F, SettleReason::lost}}}));
  EXPECT_EQ(reward(shop, 5, 1.0F, record), Answer::duplicate);
  shop.open();
  EXPECT_EQ(shop.reward(5, 1.0F), Answer::duplicate);
  shop.clock.pass(100);
  shop.look();
  EXPECT_EQ(shop.settled().size(), 1U);
  const auto events = all_of<Restored>(shop.store);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].utc, record->utc);
  EXPECT_EQ(events[0].propensities, record->propensities);
}

TEST(RestoredDecision, IsLearnedWhereWindowsNeverClose) {
  Shop shop({.rewards = RewardRule::first, .window = 0});
  const auto record = record_of(5, shop.clock.utc());
  shop.clock.pass(1e6);
  EXPECT_EQ(reward(shop, 5, 1.0F, record), Answer::accepted);
  EXPECT_EQ(shop.settled(), (Settlements{{5, {1.0F, SettleReason::reward}}}));
}

TEST(RestoredDecision, ComesTooLateAfterItsWindow) {
  Shop shop({.rewards = RewardRule::first, .window = 10});
  const auto record = record_of(5, shop.clock.utc());
  shop.clock.pass(10);
  EXPECT_EQ(reward(shop, 5, 1.0F, record), Answer::accepted);
  const auto late = record_of(6, shop.clock.utc());
  shop.clock.pass(10.000001);
  EXPECT_EQ(reward(shop, 6, 1.0F, late), Answer::expired);
  EXPECT_EQ(shop.in_group([&](Ledger& l) { return l.cancel(6, late.get()); }), Answer::expired);
  EXPECT_EQ(all_of<Restored>(shop.store).size(), 1U);
}

TEST(RestoredDecision, WithoutARewardIsLostToo) {
  for (const RewardRule rule : {RewardRule::first, RewardRule::sum, RewardRule::largest}) {
    Shop shop({.rewards = rule, .window = 10, .default_reward = 0.5, .activation = true});
    const auto record = record_of(5, shop.clock.utc()), gone = record_of(6, shop.clock.utc());
    EXPECT_EQ(shop.in_group([&](Ledger& l) { return l.activate(5, record.get()); }), Answer::accepted);
    EXPECT_EQ(shop.in_group([&](Ledger& l) { return l.activate(5, record.get()); }), Answer::duplicate);
    EXPECT_EQ(shop.in_group([&](Ledger& l) { return l.cancel(6, gone.get()); }), Answer::accepted);
    shop.open();
    shop.clock.pass(10);
    shop.look();
    EXPECT_EQ(shop.settled(), (Settlements{{5, {0.0F, SettleReason::lost}}, {6, {0.0F, SettleReason::cancelled}}}));
    EXPECT_EQ(reward(shop, 5, 1.0F, record), Answer::expired);
  }
}

// A log that was restored from a backup gives no id again that a token has brought.
TEST(RestoredDecision, ReservesItsId) {
  Shop shop({.rewards = RewardRule::first});
  shop.in_group([](Ledger& l) { return l.reserve_ids(100); });
  EXPECT_EQ(reward(shop, 99, 1.0F, record_of(99, shop.clock.utc())), Answer::accepted);
  EXPECT_EQ(shop.ledger->reserved_ids(), 100U);
  EXPECT_EQ(reward(shop, 70'000, 1.0F, record_of(70'000, shop.clock.utc())), Answer::accepted);
  EXPECT_GT(shop.ledger->reserved_ids(), 70'000U);
  EXPECT_EQ(shop.ledger->ids_start(), shop.ledger->reserved_ids());
  check_log(shop.store);
}

TEST(RestoredDecision, ThatDoesNotFitIsRefused) {
  Shop shop({.rewards = RewardRule::first, .reward_range = log_reward_range("-1,0.1")});
  const auto record = record_of(5, shop.clock.utc());
  expect_mentions(message_of([&] { reward(shop, 6, 0.0F, record); }), {"token", "5", "6"});
  auto wide = record_of(7, shop.clock.utc());
  wide->propensities = {0.2F, 0.3F, 0.5F};  // the log has two actions
  EXPECT_EQ(reward(shop, 7, 0.0F, wide), Answer::unknown);
  auto other = record_of(8, shop.clock.utc());
  other->x = {1.0F};  // the log has no contexts
  EXPECT_EQ(reward(shop, 8, 0.0F, other), Answer::unknown);
  EXPECT_EQ(reward(shop, 5, 0.1F, record), Answer::accepted);
  expect_mentions(message_of([&] { reward(shop, 5, 0.1001F, record); }), {"decision 5", "-1", "0.1", "reward_range"});
  expect_mentions(message_of([&] { reward(shop, 5, -2.0F, record); }), {"-2"});
  EXPECT_THROW(log_reward_range("1"), Error);
  EXPECT_THROW(log_reward_range("1,0"), Error);
  EXPECT_THROW(log_reward_range("0,inf"), Error);
  EXPECT_THROW(log_reward_range("0,1,2"), Error);
  expect_mentions(message_of([] { check(LiveConfig{.default_reward = 2, .reward_range = log_reward_range("0,1")}); }),
                  {"default_reward=2", "0,1"});
  check(LiveConfig{
      .rewards = RewardRule::first, .window = 0, .default_reward = 2, .reward_range = log_reward_range("0,1")});
}

// A service that loses every third decision; rewards bring their records back.
struct Losses {
  Service service;
  std::map<DecisionId, std::shared_ptr<const Restored>> lost;
  std::vector<DecisionId> written;

  explicit Losses(const LiveConfig& config) : service(live_setup("lin-ts", config)) {}

  void decide(int n, std::uint64_t seed) {
    for (const Event& e : random_events(n, seed)) {
      Decided made = service.live->make(e.x);
      if (made.id % 3 == 0) {
        Restored record;
        static_cast<Decided&>(record) = made;
        record.utc = service.clock.utc();
        lost.emplace(made.id, std::make_shared<Restored>(record));
      } else {
        written.push_back(made.id);
        EXPECT_TRUE(service.live->write(std::move(made)));
      }
    }
    service.live->flush();
  }
  void reward_all() {
    std::vector<Reward> rewards;
    for (const auto& [id, record] : lost) rewards.push_back({id, 1.0F, "k", record});
    for (const DecisionId id : written) rewards.push_back({id, static_cast<float>(id % 2), "k"});
    for (const Answer answer : service.live->reward(rewards)) EXPECT_EQ(answer, Answer::accepted);
    service.live->catch_up();
  }
  // What a bandit that never had the lost ones has learned.
  std::uint64_t learned() {
    Learner learner(*service.store);
    learner.follow(service.store->last());
    return learner.bandit().agent().events();
  }
};

TEST(RestoredDecision, ChangesTheStateOnlyWhereItIsLearned) {
  for (const double window : {0.0, 600.0}) {
    Losses losses({.propensity_draws = 20, .rewards = RewardRule::first, .window = window});
    losses.decide(60, 3);
    losses.reward_all();
    const std::string saved = losses.service.live->saved();
    EXPECT_EQ(saved, losses.service.replayed());
    EXPECT_EQ(losses.learned(), losses.written.size() + (window == 0.0 ? losses.lost.size() : 0U));
    EXPECT_EQ(losses.service.live->status().durable.restored, losses.lost.size());
    EXPECT_EQ(losses.service.live->status().durable.decisions, losses.written.size());
    EXPECT_EQ(losses.service.live->status().durable.rewards, 60U);
    EXPECT_EQ(losses.service.live->status().durable.settled, 60U);
    losses.service.open();
    EXPECT_EQ(losses.service.live->saved(), saved);
    EXPECT_EQ(losses.service.live->status().durable.rewards, 0U);
  }
}

TEST(RestoredDecision, IsKnownToEveryReaderOfLogs) {
  Losses losses({.propensity_draws = 20, .rewards = RewardRule::first});
  losses.decide(60, 3);
  losses.reward_all();
  const MemoryStore& store = *losses.service.store;
  const LogSummary summary = check_log(store);
  EXPECT_EQ(summary.restored, losses.lost.size());
  EXPECT_EQ(summary.decisions, 60U);
  EXPECT_EQ(summary.settled, 60U);
  const Verification found = verify_log(store);
  EXPECT_EQ(found.same, losses.written.size());
  EXPECT_EQ(found.out_of_reach, losses.lost.size());
  // Through lines of JSON.
  MemoryStore copied;
  LogImport import(copied);
  for_each_event(store, [&](EventNumber number, const GroupTime& time, const pits::Event& event) {
    import.add(event_from_json(to_json({number, time, event})));
  });
  import.finish();
  EXPECT_EQ(check_log(copied).restored, losses.lost.size());
  // To another bandit.
  MemoryStore taught;
  const Teaching teaching = teach(taught, store, {.agent = small_spec("lin-ts"), .seed = 8});
  EXPECT_EQ(teaching.decisions, 60U);
  EXPECT_EQ(teaching.learned, losses.written.size());
  EXPECT_EQ(check_log(taught).restored, losses.lost.size());
}

TEST(RestoredDecision, IsErasedAsOthersAre) {
  Losses losses({.propensity_draws = 20, .rewards = RewardRule::first});
  losses.decide(30, 3);
  losses.reward_all();
  losses.service.live.reset();  // keeps a snapshot
  Store& store = *losses.service.store;
  const Microseconds decided = losses.service.clock.utc();
  EXPECT_EQ(erase_contexts(store, "asked", [&](DecisionId, const GroupTime& t) { return t.utc <= decided; }), 30U);
  for (const Restored& r : all_of<Restored>(store)) EXPECT_TRUE(r.x.empty());
  check_log(store);
}

TEST(RestoredDecision, ThatWasNotLostIsAContradiction) {
  Losses losses({.propensity_draws = 20, .rewards = RewardRule::first});
  losses.decide(5, 3);
  losses.service.live->reward({losses.written[0], 1.0F, "k"});
  MemoryStore bad;
  LogImport import(bad);
  for_each_event(*losses.service.store, [&](EventNumber number, const GroupTime& time, pits::Event event) {
    if (auto* settled = std::get_if<Settled>(&event)) settled->reason = SettleReason::lost;
    import.add({number, time, event});
  });
  import.finish();
  expect_mentions(message_of([&] { check_log(bad); }), {"was not lost"});
}

// After a backup, ids that tokens have brought are not given again.
TEST(RestoredDecision, OfANewerLogLetsIdsStartBehindIt) {
  Service service(live_setup("lin-ts"));
  const std::vector<float> x(context_size, 0.5F);
  Restored record;
  static_cast<Decided&>(record) = service.live->make(x);
  record.id = 5'000'000;
  record.utc = service.clock.utc();
  EXPECT_EQ(service.live->cancel(record.id, std::make_shared<Restored>(record)), Answer::accepted);
  const DecisionId next = service.live->decide(x).id;
  EXPECT_GT(next, record.id);
  service.open();
  EXPECT_GT(service.live->decide(x).id, next);
  service.live->flush();
  check_log(*service.store);
}

// While the disk takes nothing: 100,000 decisions wait, and every further one is counted.
TEST(Gap, CountsTheDecisionsThatWereNotLogged) {
  Service service(live_setup("uniform", {.propensity_draws = 1, .rewards = RewardRule::first}));
  const std::vector<float> x(context_size, 0.5F);
  service.store->fails = true;
  std::uint64_t written = 0, refused = 0;
  for (int i = 0; i < 100'500; ++i) (service.live->write(service.live->make(x)) ? written : refused) += 1;
  EXPECT_EQ(written, 100'000U);
  EXPECT_EQ(refused, 500U);
  EXPECT_THROW(service.live->decide(x), Error);  // nobody has got this one
  EXPECT_EQ(service.live->status().unlogged, 500U);
  service.store->fails = false;
  service.live->flush();
  service.open();
  std::uint64_t gaps = 0;
  for (const Gap& gap : all_of<Gap>(*service.store)) gaps += gap.decisions;
  EXPECT_EQ(gaps, 500U);
  const LogSummary summary = check_log(*service.store);
  EXPECT_EQ(summary.decisions, 100'000U);
  EXPECT_EQ(summary.unlogged, 500U);
  EXPECT_EQ(service.live->saved(), service.replayed());
}

// A service must not wait for ids: it says that there are none, and has some when the disk is back.
TEST(Gap, WithoutIdsNothingIsDecided) {
  Service service(live_setup("uniform", {.propensity_draws = 1, .rewards = RewardRule::first}));
  const std::vector<float> x(context_size, 0.5F);
  service.store->fails = true;
  DecisionId made = 0;
  const std::string said = message_of(
      [&] {
        for (;; ++made) service.live->write(service.live->make(x));
      },
      ErrorKind::failed);
  expect_mentions(said, {"no ids"});
  EXPECT_GE(made, id_block / 2);
  service.store->fails = false;
  service.live->flush();
  const DecisionId next = service.live->decide(x).id;  // waits for new ids, where there are none yet
  EXPECT_GT(next, made);
  service.live.reset();
  const LogSummary summary = check_log(*service.store);
  EXPECT_EQ(summary.decisions + summary.unlogged, made + 1);
}

// A decision whose id a token has taken is not written, and blocks nothing.
TEST(Gap, HasTheDecisionsWhoseIdIsTaken) {
  Service service(live_setup("lin-ts"));
  const Decided made = service.live->make(std::vector<float>(context_size, 0.5F));
  EXPECT_TRUE(service.live->write(Decided(made)));
  EXPECT_TRUE(service.live->write(Decided(made)));
  service.live->flush();
  EXPECT_EQ(service.live->status().unlogged, 1U);
  service.live.reset();
  EXPECT_EQ(check_log(*service.store).unlogged, 1U);
}

}  // namespace
}  // namespace pits::test
