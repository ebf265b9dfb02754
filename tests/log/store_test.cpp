// Stores: what was committed is there, what failed is not, and errors say which file and why.
#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "log/faulty_disk.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

std::string group_of(DecisionId id, int events = 1) {
  GroupWriter writer;
  for (int i = 0; i < events; ++i) writer.add(IdsReserved{.end = id});
  return writer.finish({.utc = 5, .elapsed = 6});
}

DecisionId value_at(const Store& store, EventNumber number) {
  return std::get<IdsReserved>(store.group_holding(number).value().event(number)).end;
}

TEST(SqliteStore, GivesBackWhatWasCommitted) {
  const Scratch scratch;
  for (int round = 0; round < 2; ++round) {  // in the process that wrote, and after a new start
    SqliteStore store(scratch / "log");
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

TEST(SqliteStore, KeepsSnapshotsByTheirEvent) {
  const Scratch scratch;
  SqliteStore store(scratch / "log");
  store.keep({.number = 20, .engine = "e", .base = true, .bytes = std::string(3'000'000, 'x')});
  store.keep({.number = 10, .engine = "d", .bytes = "ten"});
  store.keep({.number = 20, .engine = "f", .bytes = "twenty"});  // replaced, and still a base
  ASSERT_EQ(store.snapshots().size(), 2U);
  EXPECT_EQ(store.snapshots()[0].number, 10U);
  EXPECT_FALSE(store.snapshots()[0].base);
  EXPECT_TRUE(store.snapshots()[1].base);
  EXPECT_EQ(store.snapshot(20).bytes, "twenty");
  EXPECT_EQ(store.snapshot(20).engine, "f");
  store.drop_snapshot(10);
  EXPECT_EQ(store.snapshots().size(), 1U);
  expect_mentions(message_of([&] { store.snapshot(10); }, ErrorKind::failed), {"no snapshot of event 10"});
}

TEST(SqliteStore, IsWrittenByOneProcessAndReadByMany) {
  const Scratch scratch;
  expect_mentions(message_of([&] { SqliteStore(scratch / "log", Access::read); }), {"holds no log", "events.db"});
  SqliteStore store(scratch / "log");
  expect_mentions(message_of([&] { SqliteStore(scratch / "log"); }), {"in use"});
  const SqliteStore reader(scratch / "log", Access::read);
  store.commit({.first = 1, .group = group_of(3)});
  EXPECT_EQ(reader.last(), 1U);
  EXPECT_THROW(const_cast<SqliteStore&>(reader).commit({.pages = {{1, "x"}}}), Error);
}

TEST(SqliteStore, RefusesFilesThatAreNone) {
  const Scratch scratch;
  write_bytes(scratch / "events.db", std::string(5000, 'z'));
  expect_mentions(message_of([&] { SqliteStore(scratch.path()); }), {"events.db", "not a database"});
  std::filesystem::remove(scratch / "events.db");
  Database(scratch / "events.db", Access::write).execute("CREATE TABLE mine(a)");
  expect_mentions(message_of([&] { SqliteStore(scratch.path()); }), {"events.db", "no log of pits"});
  std::filesystem::remove(scratch / "events.db");
  { SqliteStore store(scratch.path()); }
  Database(scratch / "events.db", Access::write).execute("PRAGMA user_version=2");
  expect_mentions(message_of([&] { SqliteStore(scratch.path()); }), {"layout 2", "layout 1"});
}

struct Fault {
  std::string name;
  Call call;
  int code;
  std::vector<std::string> words;
};

class StoreFault : public testing::TestWithParam<Fault> {};

// Each write or sync of many commits fails in its turn. A commit that returned is there after a new start; one that
// threw may be retried at once; a reader never sees half of one.
TEST_P(StoreFault, LosesNothingThatWasCommitted) {
  const Fault& fault = GetParam();
  FaultyDisk disk;
  for (long after = 0; after < 36; ++after) {
    const Scratch scratch;
    std::vector<DecisionId> committed;
    {
      SqliteStore store(scratch / "log");
      disk.fail(fault.call, fault.code, after, 1 + after % 3);
      for (DecisionId value = 100; committed.size() < 12; ++value) {
        try {
          const std::string page = std::to_string(value) + std::string(9000, 'p');
          store.commit({.first = committed.size() + 1, .group = group_of(value), .pages = {{1, page}}});
          committed.push_back(value);
        } catch (const Error& e) {
          EXPECT_EQ(e.kind(), ErrorKind::failed);
          expect_mentions(e.what(), fault.words);
          EXPECT_EQ(store.last(), committed.size());
        }
        ASSERT_EQ(store.page(1).substr(0, 3), committed.empty() ? "" : std::to_string(committed.back()));
      }
    }
    disk.heal();
    SqliteStore store(scratch / "log");
    ASSERT_EQ(store.last(), committed.size());
    for (std::size_t i = 0; i < committed.size(); ++i) ASSERT_EQ(value_at(store, i + 1), committed[i]);
  }
  EXPECT_GT(disk.failures(), 15);
}

INSTANTIATE_TEST_SUITE_P(
    Disk, StoreFault,
    testing::Values(Fault{"FullDisk", Call::write, SQLITE_FULL, {"cannot write", "events.db", "full"}},
                    Fault{"WriteError", Call::write, SQLITE_IOERR_WRITE, {"cannot write", "events.db", "I/O error"}},
                    Fault{"SyncError", Call::sync, SQLITE_IOERR_FSYNC, {"cannot write", "events.db", "I/O error"}}),
    [](const auto& tested) { return tested.param.name; });

TEST(SqliteStore, AFileThatCannotBeOpenedIsNamed) {
  const Scratch scratch;
  { SqliteStore store(scratch / "log"); }
  FaultyDisk disk;
  for (long after = 0; after < 4; ++after) {
    disk.fail(Call::open, SQLITE_CANTOPEN, after);
    expect_mentions(message_of([&] { SqliteStore(scratch / "log"); }, ErrorKind::failed), {".db", "unable to open"});
  }
  disk.heal();
  SqliteStore store(scratch / "log");
}

}  // namespace
}  // namespace pits::test
