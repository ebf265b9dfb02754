// The books: rules of rewards, one by one.
#include "pits/log/ledger.h"

#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "log/shop.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

TEST(Ledger, TheFirstRewardSettlesOnArrival) {
  Shop shop({.rewards = RewardRule::first, .window = 10});
  shop.decide(5);
  EXPECT_EQ(shop.reward(4, 1.0F), Answer::unknown);
  EXPECT_EQ(shop.reward(5, 1.0F, "k"), Answer::accepted);
  EXPECT_EQ(shop.reward(5, 1.0F, "k"), Answer::duplicate);
  EXPECT_EQ(shop.reward(5, 2.0F, "other"), Answer::duplicate);
  EXPECT_EQ(shop.settled(), (std::map<DecisionId, Settlement>{{5, {1.0F, SettleReason::reward}}}));
  shop.clock.pass(100);
  shop.look();
  EXPECT_EQ(shop.reward(5, 2.0F), Answer::duplicate);
  EXPECT_EQ(shop.settled().size(), 1U);
}

TEST(Ledger, AWindowWithoutRewardsGivesTheDefault) {
  Shop shop({.rewards = RewardRule::first, .window = 10, .default_reward = 0.25});
  shop.decide(0);
  shop.clock.pass(4);
  shop.decide(1);
  shop.clock.pass(5.9);
  EXPECT_EQ(shop.reward(1, 1.0F), Answer::accepted);
  EXPECT_FALSE(shop.settled().contains(0));
  shop.clock.pass(0.1);
  EXPECT_EQ(shop.reward(0, 1.0F), Answer::expired);  // exactly 10 seconds: the window is closed
  EXPECT_EQ(shop.settled().at(0), Settlement(0.25F, SettleReason::expired));
}

TEST(Ledger, SumAndLargestSettleWhenTheWindowCloses) {
  for (const RewardRule rule : {RewardRule::sum, RewardRule::largest}) {
    Shop shop({.rewards = rule, .window = 10});
    shop.decide(0);
    EXPECT_EQ(shop.reward(0, -3.0F, "a"), Answer::accepted);
    EXPECT_EQ(shop.reward(0, 2.0F, "b"), Answer::accepted);
    EXPECT_EQ(shop.reward(0, 2.0F, "b"), Answer::duplicate);
    EXPECT_EQ(shop.reward(0, -0.5F), Answer::accepted);  // without a key, each is one more
    EXPECT_EQ(shop.reward(0, -0.5F), Answer::accepted);
    shop.open();
    EXPECT_EQ(shop.reward(0, 2.0F, "b"), Answer::duplicate);
    EXPECT_TRUE(shop.settled().empty());
    shop.clock.pass(10);
    EXPECT_EQ(shop.reward(0, 9.0F, "c"), Answer::expired);
    EXPECT_EQ(shop.reward(0, -3.0F, "a"), Answer::duplicate);  // a retry of one that counted
    const float value = rule == RewardRule::sum ? -2.0F : 2.0F;
    EXPECT_EQ(shop.settled().at(0), Settlement(value, SettleReason::reward));
  }
}

TEST(Ledger, ASumStaysFinite) {
  constexpr float most = std::numeric_limits<float>::max();
  for (const float sign : {1.0F, -1.0F}) {
    Shop shop({.rewards = RewardRule::sum, .window = 10});
    shop.decide(0);
    for (const char* key : {"a", "b"}) shop.reward(0, sign * 3e38F, key);
    shop.clock.pass(10);
    shop.look();
    EXPECT_EQ(shop.settled().at(0), Settlement(sign * most, SettleReason::reward));
  }
}

// Where windows end for ever, what has rewards settles at once by the rule of before; the others wait for a first
// reward.
TEST(Ledger, RewardsOfOpenWindowsSettleWhereWindowsEnd) {
  for (const RewardRule rule : {RewardRule::sum, RewardRule::largest}) {
    Shop shop({.rewards = rule, .window = 10});
    shop.in_group([](Ledger& ledger) { return ledger.reserve_ids(10); });
    for (DecisionId id = 0; id < 4; ++id) shop.decide(id);
    for (const float value : {-3.0F, 2.0F}) EXPECT_EQ(shop.reward(1, value), Answer::accepted);
    EXPECT_EQ(shop.reward(2, 0.5F), Answer::accepted);
    EXPECT_EQ(shop.activate(3), Answer::accepted);
    shop.open();
    Decided late;
    late.id = 4;
    late.propensities = {0.5F, 0.5F};
    shop.in_group([&](Ledger& ledger) {
      ledger.decide(late);
      for (const float value : {7.0F, 1.0F}) EXPECT_EQ(ledger.reward({4, value, ""}), Answer::accepted);
      ledger.change_config({.rewards = RewardRule::first, .window = 0});
      return 0;
    });
    const bool sum = rule == RewardRule::sum;
    EXPECT_EQ(shop.settled(), (std::map<DecisionId, Settlement>{{1, {sum ? -1.0F : 2.0F, SettleReason::reward}},
                                                                {2, {0.5F, SettleReason::reward}},
                                                                {4, {sum ? 8.0F : 7.0F, SettleReason::reward}}}));
    EXPECT_EQ(shop.reward(1, 9.0F), Answer::duplicate);
    EXPECT_EQ(shop.reward(0, 0.25F), Answer::accepted);
    EXPECT_EQ(shop.reward(3, 0.75F), Answer::accepted);
    EXPECT_EQ(shop.settled().size(), 5U);
    check_log(shop.store);
  }
}

// Where windows begin to close, decisions that have settled long ago are passed by, some in each group.
TEST(Ledger, AGroupLooksAtABoundedPartOfTheLog) {
  Shop shop({.rewards = RewardRule::first});
  for (DecisionId id = 0; id < 40; ++id) {
    shop.decide(id);
    if (id != 39) shop.reward(id, 1.0F);
  }
  shop.in_group([](Ledger& ledger) {
    ledger.change_config({.rewards = RewardRule::first, .window = 10});
    return 0;
  });
  shop.clock.pass(100);
  const std::size_t before = shop.store.groups_read;
  shop.ledger->begin_group();
  EXPECT_TRUE(shop.ledger->settle_expired(1));
  EXPECT_LT(shop.store.groups_read - before, 20U);
  while (shop.ledger->settle_expired(1)) {
  }
  shop.ledger->commit();
  EXPECT_EQ(shop.settled().at(39), Settlement(0.0F, SettleReason::expired));
  EXPECT_EQ(shop.settled().size(), 40U);
}

TEST(Ledger, WhatWasNeverShownIsNotLearned) {
  Shop shop({.rewards = RewardRule::first, .window = 10, .activation = true});
  for (DecisionId id = 0; id < 5; ++id) shop.decide(id);
  EXPECT_EQ(shop.activate(0), Answer::accepted);
  EXPECT_EQ(shop.activate(0), Answer::duplicate);
  EXPECT_EQ(shop.activate(9), Answer::unknown);
  EXPECT_EQ(shop.reward(1, 1.0F), Answer::accepted);  // it was shown, then
  EXPECT_EQ(shop.cancel(2), Answer::accepted);
  EXPECT_EQ(shop.cancel(2), Answer::duplicate);
  EXPECT_EQ(shop.cancel(1), Answer::expired);
  EXPECT_EQ(shop.cancel(9), Answer::unknown);
  EXPECT_EQ(shop.reward(2, 1.0F), Answer::expired);
  shop.clock.pass(11);
  shop.look();
  EXPECT_EQ(shop.activate(3), Answer::expired);
  const auto settled = shop.settled();
  EXPECT_EQ(settled.at(0), Settlement(0.0F, SettleReason::expired));
  EXPECT_EQ(settled.at(1), Settlement(1.0F, SettleReason::reward));
  for (DecisionId id = 2; id < 5; ++id) EXPECT_EQ(settled.at(id).second, SettleReason::cancelled);
}

// The window goes by the steady clock: whatever the UTC clock does, it is 10 seconds.
TEST(Ledger, JumpsOfTheClockChangeNoWindow) {
  Shop shop({.rewards = RewardRule::first, .window = 10});
  for (const double jump : {86400.0, -2.0 * 86400.0, 1e7, -1e7, 0.0}) {
    const auto id = static_cast<DecisionId>(shop.settled().size());
    shop.decide(id);
    shop.clock.jump(jump);
    shop.clock.pass(9.9);
    shop.look();
    EXPECT_FALSE(shop.settled().contains(id)) << jump;
    shop.clock.jump(-jump / 2);
    shop.clock.pass(0.2);
    shop.look();
    EXPECT_TRUE(shop.settled().contains(id)) << jump;
  }
}

// Between two processes only the UTC clock says how long it was. One that was set back counts as no time.
TEST(Ledger, TheTimeBetweenTwoProcessesCounts) {
  Shop shop({.rewards = RewardRule::first, .window = 10});
  shop.decide(0);
  shop.clock.jump(-500);
  shop.open();
  shop.decide(1);
  shop.clock.pass(9);
  shop.look();
  EXPECT_FALSE(shop.settled().contains(0));
  shop.clock.jump(2);
  shop.open();
  shop.look();
  EXPECT_TRUE(shop.settled().contains(0));
}

TEST(Ledger, ARepeatedKeyIsTheSameDecision) {
  Shop shop({.rewards = RewardRule::first});
  shop.decide(3, "visit");
  Decided again;
  again.id = 4;
  again.key = "visit";
  again.action = 1;
  EXPECT_EQ(shop.in_group([&](Ledger& l) { return l.decide(again); }), 3U);
  shop.open();
  EXPECT_EQ(shop.in_group([&](Ledger& l) { return l.decide(again); }), 3U);
  EXPECT_EQ(shop.ledger->find(3).value().action, 0U);
  EXPECT_FALSE(shop.ledger->find(4));
  again.key = "two at once";
  EXPECT_EQ(shop.in_group([&](Ledger& l) {
    l.decide(again);
    again.id = 5;
    return l.decide(again);
  }),
            4U);
  again.key = std::string(257, 'k');
  expect_mentions(message_of([&] { shop.ledger->decide(again); }), {"at most 256 bytes", "257"});
}

TEST(Ledger, RefusesBadCalls) {
  Shop shop({.rewards = RewardRule::first});
  shop.decide(0);
  expect_mentions(message_of([&] { shop.reward(0, NAN); }), {"decision 0", "finite"});
  expect_mentions(message_of([&] { shop.ledger->retire(2); }), {"below 2", "not 2"});
  expect_mentions(message_of([&] { shop.ledger->add_actions({"c", "a"}); }), {"'a'", "already"});
  expect_mentions(message_of([&] { shop.ledger->add_actions({"c", "c"}); }), {"'c'", "already"});
  expect_mentions(message_of([&] { shop.ledger->change_config({.rewards = RewardRule::sum, .window = 0}); }),
                  {"rewards=sum", "window above 0"});
  expect_mentions(message_of([&] { shop.ledger->change_config({.floor = 0.5}); }), {"floor", "cannot change"});
  shop.ledger->retire(0);
  expect_mentions(message_of([&] { shop.ledger->retire(1); }), {"'b'", "only one"});
  MemoryStore empty;
  expect_mentions(message_of([&] { Ledger(empty, shop.clock); }), {"no log"});
  expect_mentions(message_of([&] { Ledger::create(shop.store, shop.clock, {}); }), {"already"});
}

// Rewards with keys of their own do not pile up without bound; what was taken before is still a duplicate.
TEST(Ledger, ADecisionHasAtMostSoManyRewards) {
  Shop shop({.rewards = RewardRule::sum, .window = 60.0, .most_rewards = 3});
  shop.decide(0);
  for (const char* key : {"a", "b", "c"}) EXPECT_EQ(shop.reward(0, 1.0F, key), Answer::accepted);
  for (int start = 0; start < 2; ++start) {
    EXPECT_EQ(shop.reward(0, 1.0F, "d"), Answer::full);
    EXPECT_EQ(shop.reward(0, 1.0F), Answer::full);
    EXPECT_EQ(shop.reward(0, 1.0F, "b"), Answer::duplicate);
    shop.open();
  }
  shop.clock.pass(61.0);
  shop.look();
  EXPECT_EQ(shop.settled().at(0), Settlement(3.0F, SettleReason::reward));
  EXPECT_EQ(all_of<Rewarded>(shop.store).size(), 3U);
}

// Clicks are not learned before their absence.
TEST(Ledger, ByDefaultOutcomesSettleInTheOrderOfTheDecisions) {
  Shop shop({.window = 10});
  for (DecisionId id = 0; id < 4; ++id) shop.decide(id);
  EXPECT_EQ(shop.reward(3, 1.0F), Answer::accepted);
  EXPECT_EQ(shop.reward(1, 2.0F), Answer::accepted);
  EXPECT_TRUE(shop.settled().empty());
  shop.clock.pass(11);
  shop.look();
  std::vector<std::pair<DecisionId, float>> learned;
  for (const Settled& s : all_of<Settled>(shop.store)) learned.emplace_back(s.id, s.value);
  EXPECT_EQ(learned, (std::vector<std::pair<DecisionId, float>>{{0, 0.0F}, {1, 2.0F}, {2, 0.0F}, {3, 1.0F}}));
  expect_mentions(message_of([] { check(LiveConfig{.window = 0}); }), {"rewards=largest", "window", "rewards=first"});
}

}  // namespace
}  // namespace pits::test
