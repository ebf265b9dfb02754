// Decisions that nobody waits for, where the store does not take them.
#include "pits/log/log_writer.h"

#include <gtest/gtest.h>

#include "log/memory_store.h"

namespace pits::test {
namespace {

Decided decided(DecisionId id) {
  Decided one;
  one.id = id;
  one.propensities = {0.5F, 0.5F};
  return one;
}

class LogWriterTest : public testing::Test {
 protected:
  LogWriterTest() {
    Created created;
    created.actions = {"a", "b"};
    created.config = as_text(LiveConfig{});
    Ledger::create(store, system_clock(), created);
  }
  // Answered when all before it was written, or could not be.
  static bool flush(LogWriter& writer) {
    try {
      return writer.call([](Ledger&) { return true; });
    } catch (const Error&) {
      return false;
    }
  }

  MemoryStore store;
};

TEST_F(LogWriterTest, TriesAgainUntilTheyAreWritten) {
  LogWriter writer(store, system_clock(), {}, [](EventNumber) {});
  store.fails = true;
  for (DecisionId id = 1; id <= 3; ++id) EXPECT_TRUE(writer.add(decided(id)));
  EXPECT_FALSE(flush(writer));
  EXPECT_EQ(writer.queued(), 3U);
  store.fails = false;
  EXPECT_TRUE(flush(writer));
  EXPECT_EQ(writer.queued(), 0U);
  EXPECT_EQ(writer.counts().decisions, 3U);
}

TEST_F(LogWriterTest, OrGivesEachToWhoeverTakesThem) {
  std::vector<DecisionId> given;  // by the writing thread
  {
    LogWriter writer(
        store, system_clock(), {}, [](EventNumber) {}, [&](Decided one) { given.push_back(one.id); });
    EXPECT_TRUE(writer.add(decided(1)));
    EXPECT_TRUE(flush(writer));
    store.fails = true;
    for (DecisionId id = 2; id <= 4; ++id) EXPECT_TRUE(writer.add(decided(id)));
    EXPECT_FALSE(flush(writer));
    EXPECT_EQ(writer.queued(), 0U);
    EXPECT_EQ(writer.counts().decisions, 1U);
  }
  EXPECT_EQ(given, (std::vector<DecisionId>{2, 3, 4}));
}

// A server of a fleet has ids of its own: the log reserves them with the first decision that has one.
TEST_F(LogWriterTest, ReservesIdsThatAnotherHasGiven) {
  LogWriter writer(store, system_clock(), {}, [](EventNumber) {});
  EXPECT_TRUE(writer.add(decided(7 * id_block)));
  EXPECT_TRUE(flush(writer));
  EXPECT_GT(writer.call([](Ledger& ledger) { return ledger.reserved_ids(); }), 7 * id_block);
}

}  // namespace
}  // namespace pits::test
