// Stores: what was committed is there, what failed is not, and errors say which file and why.
#include <gtest/gtest.h>

#include <thread>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "log/faulty_disk.h"
#include "log/store_conformance.h"
#include "pits/log/live_bandit.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

class OpenSqlite : public OpenStore {
 public:
  Store& open() override {
    store_.reset();
    store_ = std::make_unique<SqliteStore>(scratch_ / "log");
    return *store_;
  }

 private:
  Scratch scratch_;
  std::unique_ptr<SqliteStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Sqlite, AnyStore, testing::Values(StoreMaker([] { return std::make_unique<OpenSqlite>(); })));

// What was erased is in no file once the store rests: neither in pages that were replaced nor in the write-ahead log.
TEST(SqliteStore, ErasedContextsAreInNoFile) {
  const Scratch scratch;
  const std::string secret = "Ottilie Musterfrau", key = "visit of Ottilie";
  FakeClock clock;
  auto store = std::make_unique<SqliteStore>(scratch / "log");
  LiveBandit::create(*store, {.agent = "uniform", .context_size = 1, .actions = {"a", "b"}, .seed = 3}, clock);
  LiveConfig config{.rewards = RewardRule::first, .retention = 30.0, .event_retention = 60.0};
  LiveBandit live(std::move(store), clock);
  live.change_config(config);
  const auto files_with = [&](const std::string& words) {
    std::size_t found = 0;
    for (const auto& file : std::filesystem::directory_iterator(scratch / "log")) {
      found += bytes_of(file.path()).find(words) != std::string::npos ? 1U : 0U;
    }
    return found;
  };
  for (int i = 0; i < 30; ++i) {
    const std::string large(i % 3 == 0 ? 20'000 : 10, 'x');  // on pages of their own
    const Choice choice =
        live.decide(std::vector<float>{1.0F}, {}, {.key = i == 3 ? key : "", .context = secret + large});
    live.reward({choice.id, 1.0F});
  }
  live.saved();
  EXPECT_GT(files_with(secret), 0U);
  EXPECT_GT(files_with(key), 0U);
  for (const double days : {31.0, 31.0}) {
    clock.pass(days * 86'400.0);
    live.reward({live.decide(std::vector<float>{1.0F}).id, 1.0F});
    live.saved();
    while (files_with(secret) + files_with(key) > 0) {  // where that never ends, the test's time does
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(files_with(secret), 0U) << "while the bandit is open";
    EXPECT_EQ(files_with(key), 0U);
  }
  EXPECT_GT(live.store().oldest(), 0U);
}

// What was committed is moved from the write-ahead log into the file, so that the log starts again at its beginning.
TEST(SqliteStore, MovesThePagesOfItsLogAtRest) {
  const Scratch scratch;
  SqliteStore store(scratch / "log");
  const auto size = [&](const char* file) { return std::filesystem::file_size(scratch / "log" / file); };
  EventNumber next = 1;
  const auto commit = [&](std::uintmax_t bytes) {
    for (const std::uintmax_t end = size("events.db-wal") + bytes; size("events.db-wal") < end; next += 1000) {
      store.commit({.first = next, .group = group_of(next, 1000)});
    }
  };
  commit(500'000);
  const std::uintmax_t before = size("events.db");
  store.rest();  // too little to be worth it
  EXPECT_EQ(size("events.db"), before);
  commit(1'000'000);
  const std::uintmax_t log = size("events.db-wal");
  store.rest();
  EXPECT_GT(size("events.db"), before + 500'000);  // some of them several times
  store.commit({.first = next, .group = group_of(77)});
  EXPECT_EQ(size("events.db-wal"), log);  // from its beginning
  EXPECT_EQ(value_at(store, next), 77U);
  EXPECT_EQ(value_at(store, 1), 1U);
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
  EXPECT_EQ(store.damage(), "");
  EXPECT_FALSE(std::filesystem::exists(scratch / "log" / "snapshots.db.damaged")) << "what was there may be good";
}

}  // namespace
}  // namespace pits::test
