// Snapshots are a cache: without them, or with damaged ones, the log gives the same state again.
#include <gtest/gtest.h>

#include <fstream>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "log/service.h"
#include "pits/log/audit.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {
namespace {

namespace fs = std::filesystem;

// A bandit on files, which learns some outcomes at every start.
class OnFiles {
 public:
  explicit OnFiles(const LiveSetup& setup) { LiveBandit::create(*std::make_unique<SqliteStore>(log()), setup); }
  fs::path log() const { return scratch_ / "log"; }
  fs::path file() const { return log() / "snapshots.db"; }
  fs::path damaged() const { return log() / "snapshots.db.damaged"; }

  std::unique_ptr<LiveBandit> open() const {
    return std::make_unique<LiveBandit>(std::make_unique<SqliteStore>(log()));
  }
  // The state at the end; closing keeps a snapshot.
  std::string run(int rounds, std::uint64_t seed) const {
    const auto live = open();
    for (const Event& e : random_events(static_cast<std::size_t>(rounds), seed)) {
      live->reward({live->decide(e.x).id, e.reward});
    }
    return live->saved();
  }
  SqliteStore reader() const { return SqliteStore(log(), Access::read); }

 private:
  Scratch scratch_;
};

struct Damage {
  std::string name;
  std::function<void(const OnFiles&)> apply;
  std::vector<std::string> words;
  bool moved = true;  // the file
};

void overwrite(const fs::path& file, std::uintmax_t from, std::uintmax_t count) {
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(static_cast<std::streamoff>(from));
  out << std::string(count, '\xa5');
}

const std::vector<Damage>& every_damage() {
  static const std::vector<Damage> all = {
      {"Missing", [](const OnFiles& on) { fs::remove(on.file()); }, {"snapshots.db", "missing"}, false},
      {"Noise", [](const OnFiles& on) { overwrite(on.file(), 0, fs::file_size(on.file())); }, {"snapshots.db.damaged"}},
      {"Cut", [](const OnFiles& on) { fs::resize_file(on.file(), fs::file_size(on.file()) / 2); }, {"was damaged"}},
      {"Empty", [](const OnFiles& on) { fs::resize_file(on.file(), 0); }, {"snapshots.db", "missing"}, false},
      {"APageOfTheTable", [](const OnFiles& on) { overwrite(on.file(), 4096, 4096); }, {"was damaged"}},
      {"AnotherFile",
       [](const OnFiles& on) {
         fs::remove(on.file());
         Database(on.file(), Access::write).execute("CREATE TABLE mine(a)");
       },
       {"was damaged"}},
      {"TheNewestSnapshot",
       [](const OnFiles& on) {
         Database(on.file(), Access::write)
             .execute("UPDATE snapshots SET bytes = zeroblob(5000) WHERE number = (SELECT max(number) FROM snapshots)");
       },
       {"the snapshot of event", "learned again"},
       false},
      {"EverySnapshot",
       [](const OnFiles& on) {
         Database(on.file(), Access::write).execute("UPDATE snapshots SET bytes = substr(bytes, 1, length(bytes) - 1)");
       },
       {"the snapshot of event", "learned again from event 1 on"},
       false},
  };
  return all;
}

class DamagedSnapshots : public testing::TestWithParam<Damage> {};

TEST_P(DamagedSnapshots, AreMadeAgainFromTheLog) {
  const OnFiles on(live_setup("pi-ts"));
  on.run(40, 1);
  const std::string state = on.run(40, 2);
  ASSERT_GT(on.reader().snapshots().size(), 1U);
  const EventNumber events = on.reader().last();
  GetParam().apply(on);
  {
    const SqliteStore reader = on.reader();  // the log can be read as before
    EXPECT_EQ(check_log(reader).decisions, 80U);
    EXPECT_EQ(verify_log(reader).same, 80U);
  }
  {
    const auto live = on.open();
    EXPECT_TRUE(live->saved() == state);
    const LiveStatus status = live->status();
    expect_mentions(status.damage, GetParam().words);
    EXPECT_EQ(status.problem, status.damage);
    EXPECT_EQ(status.store_problem, "");
  }
  EXPECT_EQ(fs::exists(on.damaged()), GetParam().moved);
  EXPECT_TRUE(all_of<EngineChanged>(on.reader()).empty());
  // From here on it is as if nothing had happened.
  const auto again = on.open();
  EXPECT_EQ(again->status().damage, "");
  EXPECT_TRUE(again->saved() == state);
  EXPECT_GE(again->store().snapshots().back().number, events);
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedSnapshots, testing::ValuesIn(every_damage()),
                         [](const auto& tested) { return tested.param.name; });

// So that a crash after a long recovery does not lead to another one.
TEST(Snapshots, AreKeptSoonAfterTheyWereLost) {
  const OnFiles on(live_setup("lin-ts"));
  const std::string state = on.run(400, 1);
  fs::remove(on.file());
  const auto live = on.open();
  EXPECT_TRUE(live->saved() == state);
  EXPECT_EQ(live->store().snapshots().size(), 1U);
}

// A service that is told to end does not wait for a long recovery, and the next start does not begin it again. What
// another engine has learned is not kept as the work of this one.
TEST(Snapshots, AreKeptByARecoveryThatIsStopped) {
  for (const std::string& engine : {engine_name(), std::string("0.0.9 old SCALAR")}) {
    Service service;
    Created created = created_by(live_setup("lin-ts"));
    created.engine = engine;
    Ledger::create(*service.store, service.clock, created);
    service.open();
    for (const Event& e : random_events(5000, 1)) service.live->reward({service.live->decide(e.x).id, e.reward});
    const std::string state = service.live->saved();
    service.live.reset();
    MemoryStore& store = *service.store;
    for (const Snapshot& snapshot : store.snapshots()) store.drop_snapshot(snapshot.number);
    std::stop_source stop;
    stop.request_stop();
    expect_mentions(message_of([&] { service.open({.stop = stop.get_token()}); }, ErrorKind::failed),
                    {"stopped at event 10000"});
    const std::vector<Snapshot> kept = store.snapshots();
    ASSERT_EQ(kept.size(), engine == engine_name() ? 1U : 0U);
    for (const Snapshot& snapshot : kept) EXPECT_EQ(snapshot.number, 10'000U);
    service.open();
    EXPECT_TRUE(service.live->saved() == state);
  }
}

// The bits of before are those of an engine that is gone: what is learned again is another state, and the log says so.
TEST(Snapshots, ThatAreLostAfterAChangeOfTheEngineAreABaseAgain) {
  const OnFiles on(live_setup("lin-ts"));
  on.run(20, 1);
  {
    SqliteStore store(on.log());
    Ledger ledger(store, system_clock());
    ledger.begin_group();
    ledger.change_engine("0.0.9 old SCALAR");
    ledger.commit();
  }
  on.run(20, 2);
  ASSERT_EQ(all_of<EngineChanged>(on.reader()).size(), 2U);
  EXPECT_EQ(verify_log(on.reader()).same, 40U);
  fs::remove(on.file());
  on.run(20, 3);
  const auto changes = all_of<EngineChanged>(on.reader());
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes.back().engine, engine_name());
  EXPECT_TRUE(on.reader().snapshots().front().base);
  const Verification found = verify_log(on.reader());
  EXPECT_EQ(found.same, 40U) << "before the first change, and after the loss";
  EXPECT_EQ(found.out_of_reach, 20U);
  on.run(20, 4);
  EXPECT_EQ(all_of<EngineChanged>(on.reader()).size(), 3U);
}

// What was erased cannot be learned again. The error says so at every start, until the snapshots are back.
TEST(Snapshots, AreNeededOnceContextsAreErased) {
  const OnFiles on(live_setup("lin-ts"));
  const std::string state = on.run(30, 1);
  {
    SqliteStore store(on.log());
    ASSERT_EQ(erase_contexts(store, "asked", [](DecisionId id, const GroupTime&) { return id == 7; }), 1U);
  }
  const fs::path backup = on.log() / "backup";
  fs::copy(on.file(), backup);
  overwrite(on.file(), 0, 200);
  for (int start = 0; start < 2; ++start) {
    expect_mentions(message_of([&] { on.open(); }),
                    {"snapshots.db.damaged", "decision 7 was erased", "a backup may have"});
  }
  EXPECT_NO_THROW(check_log(on.reader()));
  fs::rename(backup, on.file());
  const auto live = on.open();
  EXPECT_TRUE(live->saved() == state);
  EXPECT_EQ(live->status().damage, "");
}

// An older events.db beside newer snapshots: what they have learned is not in this log, whatever its numbers say later.
TEST(Snapshots, ThatAreLaterThanTheLogAreDropped) {
  const OnFiles on(live_setup("lin-ts"));
  on.run(20, 1);
  const fs::path backup = on.log() / "backup";
  fs::copy(on.log() / "events.db", backup);
  on.run(20, 2);
  fs::rename(backup, on.log() / "events.db");
  const EventNumber last = on.reader().last();
  std::string state;
  {
    const auto live = on.open();
    expect_mentions(live->status().damage, {"snapshot of event", fmt::format("the log ends with event {}", last)});
    for (const Event& e : random_events(200, 3)) live->reward({live->decide(e.x).id, e.reward});
    state = live->saved();
  }
  {
    const SqliteStore store = on.reader();
    Learner learner(store);
    learner.follow(store.last());
    EXPECT_TRUE(learner.saved() == state);
  }
  const auto live = on.open();
  EXPECT_TRUE(live->saved() == state);
  EXPECT_EQ(live->status().damage, "");
}

}  // namespace
}  // namespace pits::test
