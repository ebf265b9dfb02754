// What people do with a fleet's database: rights, tools beside the servers, the end of a bandit.
#include <future>

#include "experiment/expect_error.h"
#include "fleet/servers.h"
#include "pits/fleet/lone_lease.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

const std::string fixtures = std::string(PITS_TEST_DIR) + "/fleet/fixtures";

class AdministrationTest : public WithServers {
 protected:
  // With a bandit that has so many decisions, which are learned.
  static void run_fleet(const std::string& url, int decisions) {
    Fleet fleet({.url = url, .model_age = 0.05});
    fleet.create("shop", shop_setup());
    const auto shop = fleet.open("shop");
    for (int i = 0; i < decisions; ++i) decide(*shop);
    EXPECT_TRUE(comes_true([&] {
      return Postgres(url).run("SELECT 1 FROM pits.bandit WHERE model > $1", std::int64_t{decisions}).size() > 0;
    }));
    EXPECT_EQ(fleet.problem(), "");
  }
};

// A tool of another version on somebody's machine must not change the tables under the servers.
TEST_F(AdministrationTest, ToolsChangeNothingInThem) {
  expect_mentions(message_of([&] { read_log(url, "shop"); }), {"no tables of pits", "pits serve"});
  EXPECT_TRUE(Postgres(url).run("SELECT to_regclass('pits.version')::text").null(0, 0));
  Postgres(url).execute(bytes_of(fixtures + "/tables-1.sql"));
  expect_mentions(message_of([&] { read_log(url, "shop"); }), {"version 1", "an older pits", "reads version 3"});
  expect_mentions(message_of([&] { LoneLease(url, "shop"); }), {"version 1", "an older pits"});
  EXPECT_EQ(Postgres(url).run("SELECT version FROM pits.version").number(0, 0), 1);
}

// Whoever evaluates a log needs no right to change anything, also after new partitions came (docs/operations.md).
TEST_F(AdministrationTest, AReaderNeedsNoRightToWrite) {
  run_fleet(url, 20);
  Postgres(url).execute(
      "DROP ROLE IF EXISTS analyst; CREATE ROLE analyst LOGIN; GRANT USAGE ON SCHEMA pits TO analyst;"
      "GRANT SELECT ON ALL TABLES IN SCHEMA pits TO analyst; REVOKE ALL ON pits.secret FROM analyst;"
      "ALTER DEFAULT PRIVILEGES FOR ROLE pits IN SCHEMA pits GRANT SELECT ON TABLES TO analyst");
  Postgres owner(url);
  keep_partitions(owner, {.length = 0.0, .closed = 3600.0});
  std::string reader = url;
  reader.replace(reader.find("://") + 3, 4, "analyst");
  EXPECT_THROW(Postgres(reader).execute("UPDATE pits.bandit SET epoch = 0"), Error);
  EXPECT_EQ(check_log(*read_log(reader, "shop")).decisions, 20U);
  EXPECT_EQ(verify_log(*read_log(reader, "shop")).same, 20U);
  owner.execute("DROP OWNED BY analyst; DROP ROLE analyst");
}

// As docs/operations.md says it.
TEST_F(AdministrationTest, ABanditIsRemovedAndNothingOfOthers) {
  const std::string page = bytes_of(std::string(PITS_TEST_DIR) + "/../docs/operations.md");
  const std::size_t mark = page.find("<!-- remove-bandit -->"), start = page.find("BEGIN;", mark);
  std::string sql = page.substr(start, page.find("```", start) - start);
  sql.replace(sql.find("NAME"), 4, "shop");
  {
    Fleet fleet(config());
    for (const char* name : {"shop", "home"}) {
      fleet.create(name, shop_setup());
      decide(*fleet.open(name), "k");
    }
  }
  Postgres(url).execute(sql);
  EXPECT_EQ(check_log(*read_log(url, "home")).decisions, 1U);
  expect_mentions(message_of([&] { read_log(url, "shop"); }), {"no bandit 'shop'"});
  const Rows tables = Postgres(url).run(
      "SELECT c.relname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = "
      "c.relnamespace WHERE n.nspname = 'pits' AND a.attname = 'bandit' AND c.relkind IN ('r', 'p')");
  EXPECT_GE(tables.size(), 8);
  for (int row = 0; row < tables.size(); ++row) {
    const std::string left = "SELECT count(*) FROM pits." + tables.text(row, 0) +
                             " t WHERE NOT EXISTS (SELECT 1 FROM pits.bandit b WHERE b.id = t.bandit)";
    EXPECT_EQ(Postgres(url).run(left).number(0, 0), 0) << tables.text(row, 0);
  }
}

// Who owns the database needs to be nothing else.
TEST_F(AdministrationTest, AnOrdinaryOwnerIsEnough) {
  const std::string name = Postgres(url).run("SELECT current_database()::text").text(0, 0);
  Postgres(url).execute("DROP ROLE IF EXISTS owner; CREATE ROLE owner LOGIN; ALTER DATABASE " + name +
                        " OWNER TO owner");
  std::string theirs = url;
  theirs.replace(theirs.find("://") + 3, 4, "owner");
  run_fleet(theirs, 1);
  Postgres owner(theirs);
  keep_partitions(owner, {.length = 0.0, .closed = 3600.0});
  EXPECT_EQ(owner.run("SELECT count(*) FROM pits.part").number(0, 0), 3);
  EXPECT_EQ(check_log(*read_log(theirs, "shop")).decisions, 1U);
  Postgres(url).execute("ALTER DATABASE " + name +
                        " OWNER TO pits; REASSIGN OWNED BY owner TO pits; DROP OWNED BY owner;"
                        " DROP ROLE owner");
}

}  // namespace
}  // namespace pits::test
