// The store in PostgreSQL: as every store, and one writer at a time by the epoch of a lease.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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

// All rows of all tables, as text.
std::string contents(Postgres& database) {
  std::string all;
  for (const char* table : {"bandit", "event", "page", "key", "snapshot", "policy", "inbox", "part", "boundary"}) {
    const Rows rows = database.run(
        fmt::format("SELECT coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '') FROM pits.{} t", table));
    all += fmt::format("{}:\n{}\n", table, rows.text(0, 0));
  }
  return all;
}

// Each by a store that does not know yet that another server has the lease. The database alone can refuse it.
TEST_F(PostgresStoreTest, RefusesEveryWriteOfAnEarlierEpoch) {
  const auto pool = std::make_shared<PostgresPool>(url);
  migrate(*pool->take());
  const BanditId bandit = new_bandit(*pool->take());
  const TakenCalls call{.sender = 7, .number = 1, .answers = "a"}, decision{.sender = 7, .number = 2, .answers = ""};
  const std::vector<std::function<void(PostgresStore&)>> writes = {
      [](auto& store) { store.commit({.first = 2, .group = group_of(2)}); },
      [](auto& store) {
        store.commit({.first = 2, .group = group_of(2), .keys = {{"k", 1}}});
      },
      [](auto& store) {
        store.commit({.first = 2, .group = group_of(2), .pages = {{1, "p"}}, .recovery = "r"});
      },
      [](auto& store) {
        store.commit({.pages = {{1, "p"}}});
      },
      [](auto& store) {
        store.commit({.pages = {{1, "p"}}, .recovery = "r"});
      },
      [&](auto& store) {
        store.commit({.first = 2, .group = group_of(2), .taken = {call, decision}});
      },
      [&](auto& store) {
        store.commit({.first = 2, .taken = {call, decision}});
      },
      [](auto& store) { store.keep({.number = 1, .engine = "e", .bytes = "b"}); },
      [](auto& store) { store.keep({.number = 9, .engine = "e", .base = true, .bytes = "b"}); },
      [](auto& store) { store.drop_snapshot(1); },
      [](auto& store) { store.publish({.number = 5, .engine = "e", .policy = "p", .books = "b"}); },
      [](auto& store) { store.rewrite(1, group_of(7), {"old"}); },
      [](auto& store) { store.drop_events(2, group_of(7), {"old"}); }};
  {
    PostgresStore first(pool, bandit, 1);
    first.commit({.first = 1, .group = group_of(1), .keys = {{"old", 3}}});
    first.keep({.number = 1, .engine = "of epoch 1", .bytes = "b"});
    first.publish({.number = 1, .engine = "of epoch 1", .policy = "p", .books = "b"});
  }
  for (const int number : {1, 2}) {
    pool->take()->run("INSERT INTO pits.inbox(sender, n, bandit, calls) VALUES(7, $1, $2, 'c')", std::int64_t{number},
                      bandit);
  }
  pool->take()->execute("UPDATE pits.bandit SET epoch = 2");
  const std::string before = contents(*pool->take());
  for (std::size_t i = 0; i < writes.size(); ++i) {
    PostgresStore stale(pool, bandit, 1);
    expect_mentions(message_of([&] { writes[i](stale); }, ErrorKind::failed), {"lease", "another server's now"});
    EXPECT_TRUE(stale.lost()) << i;
    EXPECT_EQ(contents(*pool->take()), before) << i;
  }
  for (std::size_t i = 0; i < writes.size(); ++i) {  // each of them changes something where it may
    const auto database = pool->take();
    const std::string here = contents(*database);
    database->execute("CREATE SCHEMA saved; CREATE TABLE saved.inbox AS SELECT * FROM pits.inbox");
    PostgresStore now(pool, bandit, 2);
    writes[i](now);
    EXPECT_NE(contents(*database), here) << i;
    database->execute(
        "DELETE FROM pits.event WHERE first > 1; DELETE FROM pits.key WHERE key = 'k'; DELETE FROM pits.page;"
        "DELETE FROM pits.inbox; INSERT INTO pits.inbox SELECT * FROM saved.inbox; DROP SCHEMA saved CASCADE;"
        "UPDATE pits.bandit SET last = 1, recovery = NULL");
  }
  const PostgresStore reader(pool, bandit);
  EXPECT_THROW(const_cast<PostgresStore&>(reader).commit({.pages = {{1, "x"}}}), Error);
}

// What the first refusal has told a writer, it does not ask again.
TEST_F(PostgresStoreTest, WhoHasLostTheLeaseWritesNothingMore) {
  const auto pool = std::make_shared<PostgresPool>(url);
  migrate(*pool->take());
  const BanditId bandit = new_bandit(*pool->take());
  PostgresStore old(pool, bandit, 1);
  pool->take()->execute("UPDATE pits.bandit SET epoch = 2");
  EXPECT_THROW(old.commit({.first = 1, .group = group_of(1)}), Error);
  pool->take()->execute("UPDATE pits.bandit SET epoch = 1");
  expect_mentions(message_of([&] { old.commit({.first = 1, .group = group_of(1)}); }, ErrorKind::failed), {"lease"});
  EXPECT_EQ(old.last(), 0U);
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
      try {
        Cluster::end_sessions(url);
      } catch (const Error&) {  // another time
      }
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

TEST(PostgresUrl, HasOneOrManyHosts) {
  const auto host = [](const char* name, const char* port) { return PostgresHost{{"host", name}, {"port", port}}; };
  EXPECT_EQ(hosts_of("postgresql://me@a:1,b:2/db"), (std::vector{host("a", "1"), host("b", "2")}));
  EXPECT_EQ(hosts_of("postgresql://me@/db?host=a,b,/c&port=7"),
            (std::vector{host("a", "7"), host("b", "7"), host("/c", "7")}));
  EXPECT_EQ(hosts_of("postgresql://me@a/db"), std::vector<PostgresHost>(1));
  EXPECT_EQ(hosts_of("nonsense"), std::vector<PostgresHost>(1));
}

// A host that takes connections and never answers, as one behind a network that drops packets; then the real one.
TEST_F(PostgresStoreTest, ASilentHostIsFollowedByTheNextOne) {
  const Scratch scratch;
  const std::string path = (scratch / ".s.PGSQL.5432").string();
  const int silent = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::ranges::copy(path, address.sun_path);
  ASSERT_EQ(::bind(silent, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(silent, 5), 0);
  std::string both = url;
  both.insert(both.find("host=") + 5, scratch.path().string() + ",");
  EXPECT_EQ(Postgres(both).run("SELECT 7::bigint").number(0, 0), 7);
  std::string only = url;
  only.replace(only.find("host=") + 5, only.npos, scratch.path().string() + "," + scratch.path().string());
  EXPECT_THROW(Postgres{only}, ConnectionError);
  ::close(silent);
}

TEST(PostgresUrl, ShowsNoPassword) {
  EXPECT_EQ(without_password("postgresql://me:secret@host:5432/db"), "postgresql://me@host:5432/db");
  EXPECT_EQ(without_password("postgresql://host:5432/db"), "postgresql://host:5432/db");
  EXPECT_EQ(without_password("postgresql:///db?password=secret&host=h"), "postgresql:///db?&host=h");
  EXPECT_EQ(without_password("postgresql:///db?password=a&host=h&password=secret"), "postgresql:///db?&host=h&");
}

}  // namespace
}  // namespace pits::test
