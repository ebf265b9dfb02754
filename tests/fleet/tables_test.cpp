// The tables of a fleet: older ones are brought forward with all that is in them, and events are partitioned by time.
#include "pits/fleet/tables.h"

#include <future>

#include "experiment/expect_error.h"
#include "fleet/servers.h"
#include "log/groups.h"
#include "pits/fleet/lone_lease.h"
#include "pits/log/audit.h"
#include "pits/log/event_json.h"

namespace pits::test {
namespace {

const std::string fixtures = std::string(PITS_TEST_DIR) + "/fleet/fixtures";

class TablesTest : public WithDatabase {
 protected:
  std::vector<std::int64_t> parts() const {
    const Rows rows = Postgres(url).run("SELECT part FROM pits.part ORDER BY part");
    std::vector<std::int64_t> all;
    for (int row = 0; row < rows.size(); ++row) all.push_back(rows.number(row, 0));
    return all;
  }
  std::int64_t rows_of(const std::string& table) const {
    return Postgres(url).run("SELECT count(*) FROM pits." + table).number(0, 0);
  }
  void go_on_from(int tables);
};

// Frozen: the log is that of tests/log/fixtures/store-2, whose meaning is known.
void TablesTest::go_on_from(int tables) {
  Postgres(url).execute(bytes_of(fixtures + fmt::format("/tables-{}.sql", tables)));
  Postgres database(url);
  migrate(database);
  EXPECT_EQ(database.run("SELECT version FROM pits.version").natural(0, 0), table_steps().size());
  EXPECT_EQ(rows_of("event_0"), 1);
  EXPECT_EQ(rows_of("event_1"), 19);
  const auto store = read_log(url, "shop");
  std::string lines;
  for_each_event(*store, [&](EventNumber number, const GroupTime& time, const pits::Event& event) {
    lines += to_json({number, time, event}) + "\n";
  });
  EXPECT_EQ(lines, bytes_of(std::string(PITS_TEST_DIR) + "/log/fixtures/events-2.jsonl"));
  const auto version = store->version();
  ASSERT_TRUE(version);
  EXPECT_EQ(version->number, 27U) << "no policy was published yet: the snapshot stands in";
  EXPECT_EQ(version->policy, "");
  Fleet fleet({.url = url, .learns = false});
  EXPECT_EQ(fleet.secret("tokens", [](const std::string& old) { return old; }), "a secret of version 1");
  const auto shop = fleet.open("shop");
  EXPECT_EQ(shop->decider().model(), 27U);
  EXPECT_EQ(shop->decider().actions(), (std::vector<std::string>{"tea", "milk", "cake"}));
  EXPECT_EQ(shop->config().window, 600.0);
  EXPECT_EQ(shop->find("visit-5"), 5U);
  const Decided made =
      shop->decider().make(shop->decider().encode(R"({"age": 31, "country": "fr"})"), {}, {}, nullptr, false);
  EXPECT_GE(made.id, 1000U);
  EXPECT_NE(made.action, 0U) << "it was retired";
}

TEST_F(TablesTest, OfVersion1GoOn) { go_on_from(1); }
TEST_F(TablesTest, OfVersion2GoOn) { go_on_from(2); }

TEST_F(TablesTest, OfVersion1AreLearnedFurther) {
  Postgres(url).execute(bytes_of(fixtures + "/tables-1.sql"));
  Fleet fleet({.url = url, .model_age = 0.05});
  const auto shop = fleet.open("shop");
  const std::vector<Answer> answers = reward(*shop, {{5, 1.0F, "click"}, {0, 1.0F, "order"}, {6, 1.0F}});
  EXPECT_NE(answers.at(0), Answer::unknown) << "accepted, or expired once the clock has passed its window";
  EXPECT_EQ(answers.at(1), Answer::duplicate);
  EXPECT_EQ(answers.at(2), Answer::unknown);
  EXPECT_TRUE(comes_true([&] { return rows_of("policy") == 1; }));
  EXPECT_GT(check_log(*read_log(url, "shop")).events, 30U);
}

TEST_F(TablesTest, OfANewerPitsAreRefused) {
  {
    Postgres database(url);
    migrate(database);
    database.execute("UPDATE pits.version SET version = 99");
  }
  expect_mentions(message_of([&] { Fleet({.url = url}); }), {"version 99", "newer pits", "up to 3"});
  expect_mentions(message_of([&] { read_log(url, "shop"); }), {"version 99", "newer pits"});
}

// An idle bandit has no holder; where contexts are to be erased, one looks all the same.
TEST_F(TablesTest, AnIdleBanditIsHeldWhenRetentionIsDue) {
  {
    Fleet maker({.url = url, .learns = false});
    for (const char* name : {"due", "idle"}) {
      maker.create(name, {.agent = "lin-ts", .context_size = 2, .actions = {"a", "b"}, .config = {.retention = 30.0}});
    }
  }
  Postgres(url).execute("UPDATE pits.bandit SET look_at = now() - interval '1 s' WHERE name = 'due'");
  Fleet fleet({.url = url});
  const auto due = fleet.open("due"), idle = fleet.open("idle");
  EXPECT_TRUE(comes_true([&] { return due->holding() != nullptr; }));
  EXPECT_EQ(idle->holding(), nullptr);
}

class PartitionsTest : public TablesTest {
 protected:
  void SetUp() override {
    TablesTest::SetUp();
    if (url.empty()) return;
    pool_ = std::make_shared<PostgresPool>(url);
    migrate(*pool_->take());
  }
  std::unique_ptr<PostgresStore> new_store(const std::string& name) {
    const BanditId id =
        pool_->take()
            ->run("INSERT INTO pits.bandit(name, epoch) VALUES(convert_from($1, 'UTF8'), 1) RETURNING id", name)
            .number(0, 0);
    return std::make_unique<PostgresStore>(pool_, id, 1);
  }
  void rotate() { keep_partitions(*pool_->take(), {.length = 0.0, .closed = 0.0}); }

  std::shared_ptr<PostgresPool> pool_;
};

TEST_F(PartitionsTest, AreOpenedInTimeAndNotBefore) {
  keep_partitions(*pool_->take());
  EXPECT_EQ(parts(), (std::vector<std::int64_t>{0, 1}));
  pool_->take()->execute("UPDATE pits.part SET opened = now() - interval '8 days' WHERE part = 1");
  keep_partitions(*pool_->take());
  keep_partitions(*pool_->take());
  EXPECT_EQ(parts(), (std::vector<std::int64_t>{0, 1, 2}));
}

// Logs of three bandits over many partitions: one busy, one that is idle for most of them, one that begins late. All
// are read as plain lists have them, from any place, by the writer and by a new reader.
TEST_F(PartitionsTest, HoldWhatWasWritten) {
  std::map<std::string, std::unique_ptr<PostgresStore>> stores;
  std::map<std::string, std::vector<DecisionId>> expected;
  const auto write = [&](const std::string& name, DecisionId value) {
    if (!stores.contains(name)) stores[name] = new_store(name);
    auto& values = expected[name];
    const int events = 1 + static_cast<int>(value % 3);
    stores[name]->commit({.first = values.size() + 1, .group = group_of(value, events)});
    values.insert(values.end(), static_cast<std::size_t>(events), value);
  };
  for (DecisionId part = 0; part < 12; ++part) {
    for (DecisionId i = 0; i < 5; ++i) write("busy", part * 10 + i);
    if (part % 6 == 2) write("idle", part);
    if (part >= 7) write("late", part);
    rotate();
    if (part == 8) rotate();
  }
  EXPECT_GE(parts().size(), 10U);
  for (const auto& [name, values] : expected) {
    const auto reader = read_log(url, name);
    for (const PostgresStore* store : {stores[name].get(), reader.get()}) {
      EXPECT_EQ(store->last(), values.size());
      for (EventNumber n = 1; n <= values.size(); ++n) ASSERT_EQ(value_at(*store, n), values[n - 1]) << name << n;
      for (EventNumber n = values.size(); n > 0; --n) ASSERT_EQ(value_at(*store, n), values[n - 1]) << name << n;
      EXPECT_FALSE(store->group_holding(values.size() + 1));
    }
  }
  stores["busy"]->rewrite(1, group_of(500, 1), {});
  const EventNumber middle = stores["busy"]->group_holding(40)->first();
  const int events = static_cast<int>(stores["busy"]->group_holding(40)->last() - middle + 1);
  stores["busy"]->rewrite(middle, group_of(501, events), {});
  EXPECT_EQ(value_at(*read_log(url, "busy"), 1), 500U);
  EXPECT_EQ(value_at(*read_log(url, "busy"), 40), 501U);
}

TEST_F(PartitionsTest, AreDroppedWhenNobodyNeedsThem) {
  auto one = new_store("one"), two = new_store("two");
  for (EventNumber n = 1; n <= 30; ++n) {
    one->commit({.first = n, .group = group_of(n)});
    two->commit({.first = n, .group = group_of(100 + n)});
    if (n % 10 == 0) rotate();
  }
  EXPECT_EQ(parts(), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  const std::vector<std::int64_t> used{0, 1, 2, 3};
  one->drop_events(21, group_of(7, 2), {});
  rotate();
  EXPECT_TRUE(std::ranges::includes(parts(), used)) << "the other bandit needs them";
  two->drop_events(11, group_of(8, 2), {});
  rotate();
  EXPECT_EQ(parts()[1], 2) << "the first was dropped";
  EXPECT_EQ(value_at(*one, 2), 7U);
  EXPECT_EQ(value_at(*one, 21), 21U);
  EXPECT_EQ(value_at(*two, 11), 111U);
  EXPECT_EQ(value_at(*read_log(url, "two"), 11), 111U);
  EXPECT_EQ(read_log(url, "two")->group_from(5)->first(), 11U);
  two->drop_events(31, group_of(9, 2), {});
  one->drop_events(31, group_of(9, 2), {});
  rotate();
  EXPECT_EQ(parts().size(), 2U) << "the first groups and the newest";
  one->commit({.first = 31, .group = group_of(31)});
  EXPECT_EQ(value_at(*one, 31), 31U);
  EXPECT_EQ(value_at(*read_log(url, "one"), 1), 9U);
}

// One bandit keeps its events for ever: what others have dropped goes all the same, and not their first groups.
TEST_F(PartitionsTest, LoseWhatWasDroppedWhereAnotherBanditNeedsThem) {
  auto one = new_store("one"), two = new_store("two"), three = new_store("three");
  for (EventNumber n = 1; n <= 40; ++n) {
    one->commit({.first = n, .group = group_of(n)});
    two->commit({.first = n, .group = group_of(100 + n)});
    if (n <= 10) three->commit({.first = n, .group = group_of(200 + n)});
    if (n % 20 == 0) rotate();
  }
  const auto kept = [&](const char* name) {
    return pool_->take()
        ->run("SELECT count(*) FROM pits.event e JOIN pits.bandit b ON b.id = e.bandit WHERE b.name = $1", name)
        .number(0, 0);
  };
  one->drop_events(31, group_of(7, 2), {});
  three->drop_events(11, group_of(9, 2), {});
  EXPECT_EQ(kept("one"), 40) << "not yet";
  keep_partitions(*pool_->take(), {.length = 0.0, .closed = 3600.0});
  EXPECT_EQ(kept("one"), 40) << "they were closed a moment ago";
  while (keep_partitions(*pool_->take(), {.length = 1e9, .closed = 0.0, .work = std::chrono::milliseconds(0)})) {
  }
  EXPECT_EQ(kept("one"), 1 + 10);
  EXPECT_EQ(kept("two"), 40);
  EXPECT_EQ(kept("three"), 1);
  EXPECT_EQ(value_at(*read_log(url, "one"), 1), 7U);
  EXPECT_EQ(value_at(*read_log(url, "one"), 31), 31U);
  EXPECT_EQ(value_at(*read_log(url, "two"), 5), 105U);
  EXPECT_EQ(read_log(url, "one")->group_from(5)->first(), 31U);
}

// A backup that reads the tables keeps partitions from being dropped, and nothing else.
TEST_F(PartitionsTest, WaitForABackup) {
  auto one = new_store("one");
  one->commit({.first = 1, .group = group_of(1)});
  one->commit({.first = 2, .group = group_of(2, 5)});
  rotate();
  one->commit({.first = 7, .group = group_of(7)});
  one->drop_events(7, group_of(3, 2), {});
  Postgres backup(url);
  backup.execute("BEGIN");
  backup.run("SELECT count(*) FROM pits.event");
  const auto before = parts();
  rotate();
  EXPECT_TRUE(std::ranges::includes(parts(), before));
  one->commit({.first = 8, .group = group_of(8)});
  backup.execute("COMMIT");
  rotate();
  EXPECT_EQ(std::ranges::count(parts(), 1), 0);
  EXPECT_EQ(value_at(*one, 8), 8U);
}

}  // namespace
}  // namespace pits::test
