// What a server says of itself while something is wrong, and while nothing is.
#include "experiment/expect_error.h"
#include "fleet/servers.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

using std::chrono::milliseconds;

using ReadinessTest = WithServers;

// Nobody has called it, so nobody learns it: there is nothing to learn.
TEST_F(ReadinessTest, ANewBanditHasNoOldPolicy) {
  Fleet one(config()), two(config(false));
  one.create("shop", shop_setup());
  const auto here = one.open("shop"), there = two.open("shop");
  for (const auto& server : {here, there}) {
    EXPECT_TRUE(comes_true([&] { return server->status().committed == 1; }));  // it has read the list of all bandits
    const LiveStatus status = server->status();
    EXPECT_EQ(status.model_age, 0.0);
    EXPECT_EQ(status.learned, 1U);
    EXPECT_EQ(server->holding(), nullptr);
  }
  decide(*there, "k");
  EXPECT_TRUE(comes_true([&] { return there->decider().model() == log()->last(); }));
}

// The volume of the database is full: what reads goes on, and no call can be left there. The server says so, answers
// at once, and finds out by itself when it is over.
TEST_F(ReadinessTest, AServerThatCannotLeaveItsCallsSaysSo) {
  Fleet one(config()), two(config(false));
  one.create("shop", shop_setup());
  const auto here = one.open("shop"), there = two.open("shop");
  const Decided made = decide(*there, "k");
  ASSERT_TRUE(comes_true([&] { return here->holding() != nullptr; }));
  Postgres(url).execute(
      "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " RAISE EXCEPTION 'could not extend file: No space left on device'; END $$;"
      "CREATE TRIGGER full_disk BEFORE INSERT ON pits.inbox FOR EACH ROW EXECUTE FUNCTION full_disk()");
  decide(*there);  // nobody waits for it
  ASSERT_TRUE(comes_true([&] { return !two.problem().empty(); }));
  expect_mentions(two.problem(), {"No space left"});
  expect_mentions(there->status().store_problem, {"No space left"});
  const auto start = std::chrono::steady_clock::now();
  expect_mentions(message_of([&] { reward(*there, {{made.id, 1.0F}}); }, ErrorKind::failed), {"No space left"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_EQ(one.problem(), "") << "it needs no calls";
  EXPECT_EQ(here->status().store_problem, "");
  Postgres(url).execute("DROP TRIGGER full_disk ON pits.inbox");
  EXPECT_TRUE(comes_true([&] { return two.problem().empty(); }));
  EXPECT_EQ(reward(*there, {{made.id, 1.0F}}), std::vector{Answer::accepted});
  EXPECT_TRUE(comes_true([&] { return check_log(*log()).decisions == 2; }));
  EXPECT_EQ(Postgres(url).run("SELECT count(*) FROM pits.inbox WHERE n = 0").number(0, 0), 0);
}

// The database has room for one connection of this server's user: whichever part gets it, another one does not.
TEST_F(ReadinessTest, AServerWithoutEnoughConnectionsSaysSo) {
  const std::string name = Postgres(url).run("SELECT current_database()::text").text(0, 0);
  Postgres(url).execute("DROP ROLE IF EXISTS few; CREATE ROLE few LOGIN; ALTER DATABASE " + name + " OWNER TO few");
  std::string theirs = url;
  theirs.replace(theirs.find("://") + 3, 4, "few");
  {
    Fleet one({.url = theirs, .lease = 1.0, .model_age = 0.05});
    one.create("shop", shop_setup());
    decide(*one.open("shop"), "k");
    EXPECT_EQ(one.problem(), "");
    Postgres(url).execute("ALTER ROLE few CONNECTION LIMIT 1");
    Cluster::end_sessions(url);
    EXPECT_TRUE(comes_true([&] { return one.problem().find("too many connections") != std::string::npos; }));
    Postgres(url).execute("ALTER ROLE few CONNECTION LIMIT -1");
    EXPECT_TRUE(comes_true([&] { return one.problem().empty(); }));
    EXPECT_EQ(decide(*one.open("shop"), "k2").key, "k2");
  }
  Postgres(url).execute("ALTER DATABASE " + name +
                        " OWNER TO pits; REASSIGN OWNED BY few TO pits; DROP OWNED BY few;"
                        " DROP ROLE few");
}

// Where no connection is left for those who read calls and policies: nobody has asked for anything, and yet it is
// known.
TEST_F(ReadinessTest, PartsThatFailForLongAreNamed) {
  FleetLink link("postgresql://nobody@/none?host=/nowhere", 1, milliseconds(100));
  for (const LinkPart part : {LinkPart::inbox, LinkPart::models, LinkPart::calls}) {
    link.report(part, "too many clients");
    EXPECT_EQ(link.problem(), "") << "it may be over in a moment";
    std::this_thread::sleep_for(milliseconds(600));
    link.report(part, "too many clients already");
    std::this_thread::sleep_for(milliseconds(500));
    EXPECT_EQ(link.problem(), "too many clients already");
    EXPECT_EQ(link.problem_of_calls().empty(), part != LinkPart::calls);
    link.report(part, "");
    EXPECT_EQ(link.problem(), "");
  }
  link.report(LinkPart::session, "gone");
  EXPECT_EQ(link.problem_of_calls(), "gone");
}

// Those who look for decisions by their keys share one thread with all that takes long.
TEST_F(ReadinessTest, AKeyIsNotLookedForWhileTheDatabaseIsAway) {
  const auto link = std::make_shared<FleetLink>(url, 1, milliseconds(100));
  Fleet one(config());
  one.create("shop", shop_setup());
  decide(*one.open("shop"), "k");
  const BanditId id = one.open("shop")->id();
  const FleetBandit bandit(id, "shop", std::make_shared<PostgresPool>(url), link);
  EXPECT_TRUE(bandit.find("k"));
  link->report(LinkPart::session, "it does not answer in time");
  expect_mentions(message_of([&] { bandit.find("k"); }, ErrorKind::failed), {"in time"});
  link->report(LinkPart::session, "");
  EXPECT_TRUE(bandit.find("k"));
}

}  // namespace
}  // namespace pits::test
