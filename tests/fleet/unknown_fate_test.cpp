// A commit whose answer is lost, and a holder of the lease that cannot find out whether it has happened.
#include "experiment/expect_error.h"
#include "fleet/servers.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

using std::chrono::milliseconds;

// Commits wait for a standby that is not there, after they are in the log of this machine: whose session ends then has
// committed, and is not answered.
class MissingStandby {
 public:
  explicit MissingStandby(std::string url) : url_(std::move(url)) { set("nobody"); }
  ~MissingStandby() {
    try {
      set("");
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
  MissingStandby(const MissingStandby&) = delete;
  MissingStandby& operator=(const MissingStandby&) = delete;

 private:
  void set(const std::string& name) {
    Postgres database(url_);
    database.execute(fmt::format("ALTER SYSTEM SET synchronous_standby_names = '{}'", name));
    database.execute("SELECT pg_reload_conf()");
    comes_true([&] { return Postgres(url_).run("SHOW synchronous_standby_names").text(0, 0) == name; });
    if (!name.empty()) comes_true([&] { return waits(database); });
  }
  // Commits begin to wait when another process has heard of it too.
  bool waits(Postgres& look) const {
    const std::string sql = fmt::format("CREATE TABLE probe{}()", ++probes_);
    auto probe = std::async(std::launch::async, [&] {
      try {
        Postgres(url_).execute(sql);
        return false;
      } catch (const ConnectionError&) {
        return true;
      }
    });
    while (probe.wait_for(milliseconds(10)) != std::future_status::ready) {
      look.run(
          std::string_view("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                           " AND query LIKE 'CREATE TABLE probe%'"));
    }
    return probe.get();
  }
  std::string url_;
  mutable int probes_ = 0;
};

// What keeps the holder from finding out whether its commit has happened: another server has the lease by then, or the
// database takes questions and no writes, as a standby does.
enum class Unknown { other_holder, read_only };

class UnknownFateTest : public WithServers, public testing::WithParamInterface<Unknown> {
 protected:
  void take_writes(Postgres& database, bool takes) {
    const std::string name = database.run("SELECT current_database()::text").text(0, 0);
    database.execute(fmt::format("ALTER DATABASE {} SET default_transaction_read_only = {}", name, !takes));
  }
};
INSTANTIATE_TEST_SUITE_P(Fleet, UnknownFateTest, testing::Values(Unknown::other_holder, Unknown::read_only));

// The holder's answer is lost, and it cannot find out what happened. It must not send the reward again: with `sum` and
// without a key it would count twice.
TEST_P(UnknownFateTest, ARewardIsNotSentAgain) {
  FleetConfig seldom = config();
  seldom.model_age = 1000.0;  // no policy is published meanwhile
  Fleet one(seldom);
  one.create("shop", shop_setup(RewardRule::sum, 600.0));
  const auto here = one.open("shop");
  const Decided made = decide(*here, "k");
  ASSERT_TRUE(comes_true([&] { return here->holding() != nullptr; }));
  Postgres look(url), other(url);
  ASSERT_TRUE(comes_true([&] { return look.run("SELECT 1 FROM pits.policy").size() > 0; }));  // but for the first
  other.execute("SET synchronous_commit = off");
  const auto sessions = [&](const char* wait) {
    return look.run("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = $1",
                    wait);
  };
  std::future<std::vector<Answer>> rewarded;
  std::future<void> taking;
  {
    const MissingStandby standby(url);
    rewarded = std::async(std::launch::async, [&] { return reward(*here, {{made.id, 1.0F}}); });
    const auto waiting = " FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%pits.event%'";
    ASSERT_TRUE(comes_true([&] { return look.run(std::string("SELECT 1") + waiting).size() > 0; }));
    if (GetParam() == Unknown::other_holder) {
      taking = std::async(std::launch::async, [&] { other.execute("UPDATE pits.bandit SET epoch = epoch + 1"); });
      EXPECT_TRUE(comes_true([&] { return sessions("Lock").size() > 0; }));
    } else {
      take_writes(other, false);  // for new sessions
    }
    look.run(std::string("SELECT pg_terminate_backend(pid)") + waiting);
    if (taking.valid()) taking.get();
  }
  expect_mentions(message_of([&] { rewarded.get(); }, ErrorKind::failed), {"not known"});
  if (GetParam() == Unknown::read_only) {
    take_writes(other, true);
    Cluster::end_sessions(url);
  }
  EXPECT_TRUE(answers_again(*here, "after"));
  EXPECT_EQ(check_log(*log()).rewards, 1U);
}

}  // namespace
}  // namespace pits::test
