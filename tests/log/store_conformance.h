// What every store does, run over each of them: INSTANTIATE_TEST_SUITE_P(Sqlite, AnyStore, testing::Values(maker)).
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "experiment/expect_error.h"
#include "log/groups.h"
#include "log/memory_store.h"
#include "pits/log/audit.h"
#include "pits/log/live_bandit.h"

namespace pits::test {

// An empty log, opened for writing, which can be closed and opened again.
class OpenStore {
 public:
  virtual ~OpenStore() = default;
  virtual Store& open() = 0;  // what was open is closed first
};
using StoreMaker = std::function<std::unique_ptr<OpenStore>()>;  // none: it is not installed here

class AnyStore : public testing::TestWithParam<StoreMaker> {
 protected:
  void SetUp() override {
    opened_ = GetParam()();
    if (!opened_) GTEST_SKIP() << "PostgreSQL is not installed";
  }
  Store& open() { return opened_->open(); }

 private:
  std::unique_ptr<OpenStore> opened_;
};

TEST_P(AnyStore, GivesBackWhatWasCommitted) {
  for (int round = 0; round < 2; ++round) {  // in the process that wrote, and after a new start
    Store& store = open();
    if (round == 0) {
      EXPECT_EQ(store.last(), 0U);
      EXPECT_FALSE(store.group_holding(1));
      store.commit({.first = 1, .group = group_of(11, 3), .pages = {{4, "four"}}, .keys = {{"a", 1}}});
      store.commit({.first = 4, .group = group_of(22), .pages = {{4, "FOUR"}, {5, "five"}}, .recovery = "r"});
      store.commit({.pages = {{6, "six"}}});  // no events
    }
    EXPECT_EQ(store.last(), 4U);
    EXPECT_EQ(value_at(store, 1), 11U);
    EXPECT_EQ(value_at(store, 3), 11U);
    EXPECT_EQ(value_at(store, 4), 22U);
    EXPECT_FALSE(store.group_holding(5));
    EXPECT_EQ(store.page(4), "FOUR");
    EXPECT_EQ(store.page(6), "six");
    EXPECT_EQ(store.page(7), "");
    EXPECT_EQ(store.recovery(), "r");
    EXPECT_EQ(store.decision_of("a"), 1U);
    EXPECT_FALSE(store.decision_of("b"));
  }
}

TEST_P(AnyStore, KeepsSnapshotsByTheirEvent) {
  Store& store = open();
  store.keep({.number = 20, .engine = "e", .base = true, .bytes = std::string(3'000'000, 'x')});
  store.keep({.number = 10, .engine = "d", .bytes = "ten"});
  store.keep({.number = 20, .engine = "f", .bytes = std::string("twen\0ty", 7)});  // replaced, and still a base
  ASSERT_EQ(store.snapshots().size(), 2U);
  EXPECT_EQ(store.snapshots()[0].number, 10U);
  EXPECT_FALSE(store.snapshots()[0].base);
  EXPECT_TRUE(store.snapshots()[1].base);
  EXPECT_EQ(store.snapshot(20).bytes, std::string("twen\0ty", 7));
  EXPECT_EQ(store.snapshot(20).engine, "f");
  store.drop_snapshot(10);
  EXPECT_EQ(store.snapshots().size(), 1U);
  expect_mentions(message_of([&] { store.snapshot(10); }, ErrorKind::failed), {"no snapshot of event 10"});
}

TEST_P(AnyStore, RewritesAGroupAndForgetsKeys) {
  Store& store = open();
  store.commit({.first = 1, .group = group_of(1, 2), .keys = {{"a", 1}, {std::string("b\0c", 3), 2}}});
  store.commit({.first = 3, .group = group_of(3)});
  store.rewrite(1, group_of(9, 2), {std::string("b\0c", 3)});
  EXPECT_EQ(value_at(store, 2), 9U);
  EXPECT_EQ(value_at(store, 3), 3U);
  EXPECT_EQ(store.decision_of("a"), 1U);
  EXPECT_FALSE(store.decision_of(std::string("b\0c", 3)));
}

// Groups of all sizes, read from any place, as a plain list has them.
TEST_P(AnyStore, FindsTheGroupOfAnyEvent) {
  Store& store = open();
  std::vector<DecisionId> values;
  for (std::size_t n = 0; n < 150; ++n) {
    const int events = 1 + static_cast<int>(n * 7 % 5) + (n % 50 == 0 ? 3000 : 0);
    store.commit({.first = values.size() + 1, .group = group_of(n, events)});
    values.insert(values.end(), static_cast<std::size_t>(events), n);
  }
  Store& again = open();
  EXPECT_EQ(again.last(), values.size());
  for (EventNumber n = 1; n <= values.size(); n += 1 + n % 3) ASSERT_EQ(value_at(again, n), values[n - 1]);
  for (EventNumber n = values.size(); n > 0; n -= std::min<EventNumber>(n, 41)) {
    ASSERT_EQ(value_at(again, n), values[n - 1]);
  }
  EXPECT_FALSE(again.group_holding(values.size() + 1));
}

// What is left after dropping: the summary in place of the first group, and all groups from the oldest on.
TEST_P(AnyStore, DropsOldEventsBehindASummary) {
  Store& store = open();
  for (EventNumber n = 1; n <= 40; n += 2) {
    store.commit({.first = n, .group = group_of(n, 2), .keys = {{fmt::format("k{}", n), n}}});
  }
  EXPECT_EQ(store.oldest(), 0U);
  EXPECT_EQ(store.group_from(9)->first(), 9U);
  store.drop_events(21, group_of(77, 3), {"k1", "k19"});
  const auto look = [](const Store& now) {
    EXPECT_EQ(now.oldest(), 21U);
    EXPECT_EQ(now.last(), 40U);
    for (EventNumber n = 1; n <= 3; ++n) EXPECT_EQ(value_at(now, n), 77U);
    for (EventNumber n = 4; n <= 20; ++n) {
      EXPECT_FALSE(now.group_holding(n)) << n;
      EXPECT_EQ(now.group_from(n)->first(), 21U) << n;
    }
    for (EventNumber n = 21; n <= 40; ++n) EXPECT_EQ(value_at(now, n), n - 1 + n % 2);
    EXPECT_FALSE(now.group_from(41));
    EXPECT_FALSE(now.decision_of("k19"));
    EXPECT_EQ(now.decision_of("k21"), 21U);
  };
  look(store);
  look(open());
  Store& again = open();
  again.commit({.first = 41, .group = group_of(41)});
  again.drop_events(39, group_of(78, 4), {});
  EXPECT_EQ(again.oldest(), 39U);
  EXPECT_EQ(value_at(again, 4), 78U);
  EXPECT_EQ(again.group_from(5)->first(), 39U);
  again.rewrite(39, group_of(99, 2), {});
  EXPECT_EQ(value_at(again, 40), 99U);
  EXPECT_EQ(value_at(again, 41), 41U);
}

// The books over this store and over one in memory answer alike and write the same events, also after new starts.
TEST_P(AnyStore, KeepsTheBooksAsMemoryDoes) {
  const FakeClock clock;
  MemoryStore plain;
  const Created created = created_by(LiveSetup{.agent = "lin-ts", .context_size = 2, .actions = {"a", "b"}, .seed = 3});
  Ledger::create(plain, clock, created);
  Ledger::create(open(), clock, created);
  std::vector<Answer> answers[2];
  for (int start = 0; start < 3; ++start) {
    int which = 0;
    for (Store* store : {static_cast<Store*>(&plain), &open()}) {
      Ledger ledger(*store, clock, {.index_pages = 2, .tallies = 4, .recovery_events = 20});
      for (DecisionId i = 0; i < 60; ++i) {
        ledger.begin_group();
        ledger.reserve_ids(20'000);
        Decided made;
        made.id = static_cast<DecisionId>(start) * 5000 + i * 37;
        made.key = i % 7 == 0 ? fmt::format("key {} {}", start, i) : "";
        made.propensities = {0.5F, 0.5F};
        made.x = {1.0F, 2.0F};
        ledger.decide(made);
        for (const DecisionId back : {0U, 3U, 11U, 40U}) {
          if (made.id >= back * 37) answers[which].push_back(ledger.reward({made.id - back * 37, 0.5F, "k"}));
        }
        ledger.commit();
      }
      ++which;
    }
  }
  EXPECT_EQ(answers[0], answers[1]);
  Store& store = open();
  EXPECT_EQ(check_log(store).rewards, check_log(plain).rewards);
  ASSERT_EQ(store.last(), plain.last());
  for (EventNumber n = 1; n <= store.last(); n = plain.group_holding(n)->last() + 1) {
    ASSERT_EQ(store.group_holding(n)->last(), plain.group_holding(n)->last());
  }
}

}  // namespace pits::test
