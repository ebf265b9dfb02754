// What may go wrong between a server and its database, one thing at a time.
#include "experiment/expect_error.h"
#include "fleet/servers.h"
#include "fleet/slow_link.h"
#include "log/groups.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

using std::chrono::milliseconds;

class FaultsTest : public WithServers {
 protected:
  BanditId new_bandit() {
    migrate(*pool_->take());
    return pool_->take()->run("INSERT INTO pits.bandit(name, epoch) VALUES('shop', 1) RETURNING id").number(0, 0);
  }
  void SetUp() override {
    WithServers::SetUp();
    pool_ = std::make_shared<PostgresPool>(url);
  }
  std::shared_ptr<PostgresPool> pool_;
};

TEST_F(FaultsTest, CallsWithoutEventsAreCarriedOutByWhoeverHasTheLastEvent) {
  const BanditId bandit = new_bandit();
  PostgresStore one(pool_, bandit, 1), two(pool_, bandit, 1);
  one.commit({.first = 1, .group = group_of(1)});
  two.commit({.first = 2, .group = group_of(2)});
  pool_->take()->run("INSERT INTO pits.inbox VALUES(7, 1, $1, 'x')", bandit);
  EXPECT_THROW(one.commit({.first = 2, .taken = {{.sender = 7, .number = 1, .answers = "old"}}}), Error);
  two.commit({.first = 3, .taken = {{.sender = 7, .number = 1, .answers = "new"}}});
  EXPECT_EQ(pool_->take()->run("SELECT answers FROM pits.inbox").text(0, 0), "new");
}

// The database may have forgotten a call after it was read: it comes again, and must not be carried out twice.
TEST_F(FaultsTest, CallsThatAreNotThereAreNotCarriedOut) {
  const BanditId bandit = new_bandit();
  pool_->take()->run("INSERT INTO pits.inbox(sender, n, bandit, calls, answers) VALUES(7, 2, $1, '', 'a')", bandit);
  for (const std::string answers : {"", "b"}) {
    for (const std::int64_t number : {1, 2}) {  // gone, answered
      PostgresStore store(pool_, bandit, 1);
      EXPECT_THROW(
          store.commit(
              {.first = 1, .group = group_of(1), .taken = {{.sender = 7, .number = number, .answers = answers}}}),
          Error);
      EXPECT_EQ(store.last(), 0U);
    }
  }
  EXPECT_EQ(pool_->take()->run("SELECT answers FROM pits.inbox").text(0, 0), "a");
}

// 64 kB in 50 ms: what takes longer to send than a transaction may be idle.
TEST_F(FaultsTest, ASlowLinkTakesLargeSnapshotsAndPolicies) {
  const BanditId bandit = new_bandit();
  SlowLink link(url);
  if (!link.there()) GTEST_SKIP() << "python3 is not installed";
  PostgresStore store(std::make_shared<PostgresPool>(link.url()), bandit, 1);
  EXPECT_EQ(store.last(), 0U);
  link.delay(0.05);
  const std::string bytes(2'000'000, 'b');
  store.keep({.number = 1, .engine = "e", .bytes = bytes});
  store.publish({.number = 1, .engine = "e", .policy = bytes, .books = ""});
  EXPECT_FALSE(store.lost());
  const PostgresStore reader(pool_, bandit);
  EXPECT_EQ(reader.snapshot(1).bytes, bytes);
  EXPECT_EQ(reader.version().value().policy, bytes);
}

// One policy that this build cannot read: the other bandits are followed, and the age of this one says so.
TEST_F(FaultsTest, APolicyThatCannotBeReadConcernsItsBanditOnly) {
  Fleet one(config()), two(config(false));
  std::vector<std::shared_ptr<FleetBandit>> here, there;
  for (const char* name : {"new", "shop"}) {
    one.create(name, shop_setup());
    here.push_back(one.open(name));
    there.push_back(two.open(name));
    decide(*here.back(), "k");
    EXPECT_TRUE(comes_true([&] { return there.back()->decider().model() == log(name)->last(); }));
  }
  Postgres database(url);
  database.run("UPDATE pits.policy SET bytes = 'x' WHERE bandit = $1", here[0]->id());
  database.run("UPDATE pits.bandit SET last = last + 1, model = last + 1 WHERE id = $1", here[0]->id());
  EXPECT_TRUE(comes_true([&] { return there[0]->model_age() > 0.1; }));
  decide(*here[1], "k2");
  EXPECT_TRUE(comes_true([&] { return there[1]->decider().model() == log()->last(); }));
  expect_mentions(there[0]->status().problem, {"policy"});
  EXPECT_EQ(there[1]->status().problem, "");
}

// A follower that is always a little behind is not out of date.
TEST_F(FaultsTest, TheAgeOfAPolicyStartsAgainWithEachOne) {
  const auto link = std::make_shared<FleetLink>(url, 99, milliseconds(100));
  Fleet one(config());
  one.create("shop", shop_setup());
  const auto here = one.open("shop");
  FleetBandit follower(here->id(), "shop", pool_, link);
  constexpr EventNumber far = 1'000'000;
  follower.heard(far, 0);
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_GT(follower.model_age(), 0.2);
  decide(*here, "k");
  ASSERT_TRUE(comes_true([&] { return log()->version() && log()->version()->number > 1; }));
  const auto start = system_clock().steady();
  follower.heard(far, log()->version()->number);
  const double again = follower.model_age();
  EXPECT_LE(again, 1e-6 * static_cast<double>(system_clock().steady() - start));
  std::this_thread::sleep_for(milliseconds(50));
  follower.heard(far + 1, follower.decider().model());
  EXPECT_GT(follower.model_age(), again) << "no newer policy has come";
  follower.heard(follower.decider().model(), follower.decider().model());
  EXPECT_EQ(follower.model_age(), 0.0);
}

// Policies are published too seldom here to bring the settings.
TEST_F(FaultsTest, WhoHoldsTheLeaseKnowsTheSettings) {
  FleetConfig seldom = config();
  seldom.model_age = 1000.0;
  auto one = std::make_unique<Fleet>(seldom);
  one->create("shop", shop_setup());
  FleetConfig follows = seldom;
  follows.learns = false;
  const auto here = one->open("shop");
  decide(*here, "k");
  ASSERT_TRUE(comes_true([&] { return here->holding() != nullptr; }));
  const auto change = [&](FleetBandit& at, std::uint64_t most) {
    LiveConfig changed = at.config();
    changed.most_rewards = most;
    at.change_config(changed);
  };
  Fleet two(follows);
  const auto there = two.open("shop");
  change(*there, 7);
  // The other server may be told before this one has noted what it has done.
  EXPECT_TRUE(comes_true([&] { return here->config().most_rewards == 7U; }));
  change(*here, 9);
  EXPECT_EQ(here->config().most_rewards, 9U);
  const EventNumber last = log()->last();
  change(*there, 9);  // as it is
  EXPECT_EQ(log()->last(), last);
  Fleet three(seldom);
  const auto next = three.open("shop");
  Postgres(url).execute("UPDATE pits.policy SET books = '', number = 0");  // nothing brings them
  one.reset();
  EXPECT_TRUE(comes_true([&] { return next->holding() != nullptr; }));
  EXPECT_EQ(next->config().most_rewards, 9U);
}

TEST_F(FaultsTest, AnActionThatIsThereIsNotAddedAgain) {
  FleetConfig seldom = config();
  seldom.model_age = 1000.0;
  Fleet one(seldom);
  seldom.learns = false;
  Fleet two(seldom);
  one.create("shop", shop_setup());
  const auto here = one.open("shop"), there = two.open("shop");
  EXPECT_EQ(here->add_actions({"d"}), 3U);
  EXPECT_EQ(there->add_actions({"d"}), 3U);
  EXPECT_EQ(there->add_actions({"d", "e"}), 3U);
  expect_mentions(message_of([&] { there->add_actions({"f", "f"}); }), {"'f' already"});
  EXPECT_TRUE(comes_true([&] { return here->decider().actions().size() == 5U; }));
}

Decided of_bytes(FleetBandit& bandit, std::size_t bytes) {
  const std::vector<float> x{1.0F, -0.5F};
  Decided made = bandit.decider().make(x, {}, {}, nullptr, false);
  made.context = std::string(bytes, 'c');
  return made;
}

// After an outage, what waits is sent in statements of some MB.
TEST_F(FaultsTest, AnOutboxSendsWhatWaitsInParts) {
  Fleet two(config(false));
  two.create("shop", shop_setup());
  const auto there = two.open("shop");
  Postgres lock(url), look(url);
  lock.execute("SET idle_in_transaction_session_timeout = 0; BEGIN; LOCK TABLE pits.inbox IN EXCLUSIVE MODE");
  constexpr std::int64_t decisions = 30, bytes = 1 << 20;
  for (int i = 0; i < decisions; ++i) there->write(of_bytes(*there, bytes));
  std::this_thread::sleep_for(milliseconds(300));
  lock.execute("COMMIT");
  const auto written = [&] {
    return look.run("SELECT coalesce(sum(length(calls)), 0)::bigint FROM pits.inbox").number(0, 0);
  };
  EXPECT_TRUE(comes_true([&] { return written() >= decisions * bytes; }));
  const Rows largest = look.run(
      "SELECT max(s)::bigint FROM (SELECT sum(length(calls)) AS s FROM pits.inbox GROUP BY xmin::text) AS one");
  EXPECT_LT(largest.number(0, 0), 10 * bytes);
}

// Decisions that found no room are counted once, however long nobody answers.
TEST_F(FaultsTest, AGapIsCountedOnce) {
  FleetConfig hasty = config(false);
  hasty.patience = 0.2;
  Fleet two(hasty);
  two.create("shop", shop_setup());
  const auto there = two.open("shop");
  Postgres lock(url);
  lock.execute("SET idle_in_transaction_session_timeout = 0; BEGIN; LOCK TABLE pits.inbox IN EXCLUSIVE MODE");
  const std::vector<float> x{1.0F, -0.5F};
  std::uint64_t taken = 0, refused = 0;
  while (refused < 5) {
    there->write(there->decider().make(x, {}, {}, nullptr, false)) ? ++taken : ++refused;
  }
  EXPECT_EQ(there->status().unlogged, 5U);
  lock.execute("COMMIT");
  std::this_thread::sleep_for(milliseconds(1500));  // nobody learns
  Fleet one(config());
  ASSERT_TRUE(comes_true([&] { return check_log(*log()).unlogged > 0; }));
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_EQ(check_log(*log()).unlogged, 5U);
  EXPECT_EQ(check_log(*log()).decisions, taken);
}

TEST(Outbox, HoldsABoundedNumberOfBytes) {
  Outbox outbox("postgresql://nobody@/none?host=/nowhere", 1);
  Decided large;
  large.context = std::string(1 << 20, 'c');
  const auto shared = std::make_shared<const Decided>(std::move(large));
  std::size_t taken = 0;
  while (taken < 1000 && outbox.add(1, {.kind = CallKind::decided, .decided = shared})) ++taken;
  EXPECT_GT(taken, 200U);
  EXPECT_LT(taken, 300U);
  EXPECT_EQ(outbox.queued(), taken);
}

}  // namespace
}  // namespace pits::test
