// The learner, on a log in memory.
#include "pits/log/learner.h"

#include <gtest/gtest.h>

#include "log/memory_store.h"
#include "pits/log/live_bandit.h"

namespace pits::test {
namespace {

// One group of decisions, each with its reward.
void write_log(MemoryStore& store, std::size_t decisions) {
  const FakeClock clock;
  LiveBandit::create(store,
                     {.agent = "lin-ts",
                      .context_size = 2,
                      .actions = {"a", "b"},
                      .seed = 7,
                      .config = {.rewards = RewardRule::first, .window = 10}},
                     clock);
  Ledger ledger(store, clock);
  ledger.begin_group();
  ledger.reserve_ids(decisions);
  for (DecisionId id = 0; id < decisions; ++id) {
    Decided decided;
    decided.id = id;
    decided.action = static_cast<Action>(id % 2);
    decided.x = {static_cast<float>(id % 5), 1.0F};
    decided.propensities = {0.5F, 0.5F};
    ledger.decide(decided);
    ledger.reward({id, static_cast<float>(id % 3)});
  }
  ledger.commit();
}

// A large group is read once, however few of its events are learned at a time, and the state is the same.
TEST(Learner, ReadsAGroupOnce) {
  MemoryStore store;
  write_log(store, 200);
  Learner whole(store);
  whole.follow(store.last());
  EXPECT_EQ(whole.number(), 2U + 3U * 200U);
  EXPECT_EQ(whole.bandit().agent().events(), 200U);
  Learner parts(store);
  parts.follow(1);
  const std::size_t before = store.groups_read;
  while (parts.number() < whole.number()) parts.follow(parts.number() + 7);
  EXPECT_EQ(store.groups_read - before, 2U);  // the large one, and the end of the log
  EXPECT_EQ(parts.saved(), whole.saved());
}

}  // namespace
}  // namespace pits::test
