// The store in PostgreSQL: as every store, and one writer at a time by the epoch of a lease.
#include <thread>

#include "fleet/cluster.h"
#include "log/store_conformance.h"
#include "pits/fleet/postgres_store.h"

namespace pits::test {
namespace {

BanditId new_bandit(Postgres& database, const std::string& name = "shop") {
  return database.run("INSERT INTO pits.bandit(name, epoch) VALUES(convert_from($1, 'UTF8'), 1) RETURNING id", name)
      .number(0, 0);
}

class OpenPostgres : public OpenStore {
 public:
  explicit OpenPostgres(const std::string& url) : pool_(std::make_shared<PostgresPool>(url)) {
    const auto database = pool_->take();
    migrate(*database);
    bandit_ = new_bandit(*database);
  }
  Store& open() override {
    store_ = std::make_unique<PostgresStore>(pool_, bandit_, 1);
    return *store_;
  }

 private:
  std::shared_ptr<PostgresPool> pool_;
  BanditId bandit_ = 0;
  std::unique_ptr<PostgresStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Postgres, AnyStore, testing::Values(StoreMaker([]() -> std::unique_ptr<OpenStore> {
                           const std::string url = Cluster::new_database();
                           return url.empty() ? nullptr : std::make_unique<OpenPostgres>(url);
                         })));

using PostgresStoreTest = WithDatabase;

TEST_F(PostgresStoreTest, RefusesEveryWriteOfAnEarlierEpoch) {
  const auto pool = std::make_shared<PostgresPool>(url);
  migrate(*pool->take());
  const BanditId bandit = new_bandit(*pool->take());
  PostgresStore old(pool, bandit, 1);
  old.commit({.first = 1, .group = group_of(1)});
  pool->take()->execute("UPDATE pits.bandit SET epoch = 2");
  PostgresStore now(pool, bandit, 2);
  const std::vector<std::function<void()>> writes = {
      [&] { old.commit({.first = 2, .group = group_of(2)}); },
      [&] {
        old.commit({.first = 2, .group = group_of(2), .keys = {{"k", 1}}});
      },
      [&] {
        old.commit({.pages = {{1, "p"}}});
      },
      [&] { old.keep({.number = 1, .engine = "e", .bytes = "b"}); },
      [&] { old.drop_snapshot(1); },
      [&] { old.rewrite(1, group_of(7), {}); }};
  for (const auto& write : writes) {
    PostgresStore stale(pool, bandit, 1);
    expect_mentions(message_of(write, ErrorKind::failed), {"lease"});
    EXPECT_TRUE(old.lost());
  }
  EXPECT_EQ(now.last(), 1U);
  EXPECT_EQ(value_at(now, 1), 1U);
  EXPECT_TRUE(now.snapshots().empty());
  EXPECT_EQ(now.page(1), "");
  EXPECT_FALSE(now.decision_of("k"));
  now.commit({.first = 2, .group = group_of(2)});
  EXPECT_EQ(now.last(), 2U);
  const PostgresStore reader(pool, bandit);
  EXPECT_EQ(reader.last(), 2U);
  EXPECT_THROW(const_cast<PostgresStore&>(reader).commit({.pages = {{1, "x"}}}), Error);
}

// Two writers with the same epoch cannot both write event 2.
TEST_F(PostgresStoreTest, NumbersEventsOnce) {
  const auto pool = std::make_shared<PostgresPool>(url);
  migrate(*pool->take());
  const BanditId bandit = new_bandit(*pool->take());
  PostgresStore one(pool, bandit, 1), two(pool, bandit, 1);
  one.commit({.first = 1, .group = group_of(1)});
  two.commit({.first = 2, .group = group_of(2)});
  EXPECT_THROW(one.commit({.first = 2, .group = group_of(3)}), Error);
  EXPECT_TRUE(one.lost());
  EXPECT_EQ(value_at(two, 2), 2U);
}

// Sessions that end at any moment: a commit that returned is there, one that threw is not, and the writer goes on.
TEST_F(PostgresStoreTest, KnowsWhatHappenedWhenSessionsEnd) {
  const auto pool = std::make_shared<PostgresPool>(url);
  migrate(*pool->take());
  const BanditId bandit = new_bandit(*pool->take());
  std::atomic<bool> done = false;
  std::thread killer([&] {
    while (!done) {
      Cluster::end_sessions(url);
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  auto store = std::make_unique<PostgresStore>(pool, bandit, 1);
  std::vector<DecisionId> committed;
  std::size_t failures = 0;
  const auto reopened = [&]() -> std::unique_ptr<PostgresStore> {  // as whoever takes the lease anew
    for (;;) {
      try {
        const Rows rows = pool->take()->run("UPDATE pits.bandit SET epoch = epoch + 1 RETURNING epoch");
        return std::make_unique<PostgresStore>(pool, bandit, rows.number(0, 0));
      } catch (const Error&) {
      }
    }
  };
  for (DecisionId value = 1; committed.size() < 300; ++value) {
    const std::string page(9000, 'p');
    try {
      store->commit({.first = committed.size() + 1, .group = group_of(value), .pages = {{value, page}}});
      committed.push_back(value);
    } catch (const Error&) {
      ++failures;
      if (!store->lost()) continue;
      store = reopened();
      for (EventNumber last = 0;;) {  // what is not known is read
        try {
          last = store->last();
        } catch (const Error&) {
          continue;
        }
        if (last > committed.size()) committed.push_back(value);
        break;
      }
    }
  }
  done = true;
  killer.join();
  const PostgresStore reader(pool, bandit);
  ASSERT_EQ(reader.last(), committed.size());
  for (std::size_t i = 0; i < committed.size(); ++i) ASSERT_EQ(value_at(reader, i + 1), committed[i]);
  RecordProperty("failures", static_cast<int>(failures));
}

using Tables = WithDatabase;

TEST_F(Tables, AreBroughtForwardAndNewerOnesAreRefused) {
  Postgres database(url);
  const std::array steps{"CREATE TABLE pits.a(x bigint); INSERT INTO pits.a VALUES(7)",
                         "ALTER TABLE pits.a ADD y bigint DEFAULT 5", "UPDATE pits.a SET x = x + y"};
  migrate(database, std::span(steps).first(1));
  for (int times = 0; times < 2; ++times) migrate(database, steps);
  EXPECT_EQ(database.run("SELECT x FROM pits.a").number(0, 0), 12);
  expect_mentions(message_of([&] { migrate(database, std::span(steps).first(2)); }), {"version 3", "up to 2"});
  EXPECT_EQ(database.run("SELECT version FROM pits.version").number(0, 0), 3);
}

TEST_F(Tables, AStepThatFailsLeavesNothing) {
  Postgres database(url);
  const std::array steps{"CREATE TABLE pits.a(x bigint)", "CREATE TABLE pits.b(x bigint); SELECT 1/0"};
  EXPECT_THROW(migrate(database, steps), Error);
  EXPECT_TRUE(database.run("SELECT to_regclass('pits.a')").null(0, 0));
  migrate(database, std::span(steps).first(1));
  EXPECT_FALSE(database.run("SELECT to_regclass('pits.a')::text").null(0, 0));
}

TEST_F(Tables, AreMadeByManyAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> made = 0;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      Postgres database(url);
      migrate(database);
      ++made;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(made, 6);
}

TEST(PostgresUrl, ShowsNoPassword) {
  EXPECT_EQ(without_password("postgresql://me:secret@host:5432/db"), "postgresql://me@host:5432/db");
  EXPECT_EQ(without_password("postgresql://host:5432/db"), "postgresql://host:5432/db");
  EXPECT_EQ(without_password("postgresql:///db?password=secret&host=h"), "postgresql:///db?&host=h");
}

}  // namespace
}  // namespace pits::test
