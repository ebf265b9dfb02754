// A backup of a fleet's database while it runs, restored into another cluster, as docs/operations.md says it.
#include <cstdlib>
#include <set>

#include "fleet/servers.h"
#include "pits/fleet/lone_lease.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

void run(const std::string& command) { ASSERT_EQ(std::system((command + " 2>&1").c_str()), 0) << command; }

struct Made {
  Decided decided;
  Microseconds utc = 0;
};

Made make(FleetBandit& bandit) { return {decide(bandit), system_clock().utc()}; }

Answer rewarded(FleetBandit& bandit, const Made& made, bool with_token) {
  Reward one{.id = made.decided.id, .value = 1.0F};
  if (with_token) {
    auto record = std::make_shared<Restored>();
    static_cast<Decided&>(*record) = made.decided;
    record->utc = made.utc;
    one.record = record;
  }
  return reward(bandit, {one}).at(0);
}

using Backup = WithDatabase;

TEST_F(Backup, OfARunningFleetGoesOnElsewhere) {
  const Scratch scratch;
  const std::string dump = (scratch / "pits.dump").string();
  std::vector<Made> before, after;
  std::string secret;
  {
    Fleet one({.url = url, .model_age = 0.05}), two({.url = url, .learns = false});
    one.create("shop", shop_setup());
    secret = one.secret("tokens", [](const std::string&) { return "made once"; });
    const std::vector servers{one.open("shop"), two.open("shop")};
    for (int i = 0; i < 100; ++i) {
      before.push_back(make(*servers[static_cast<std::size_t>(i) % 2]));
      if (i % 2 == 0) {
        EXPECT_EQ(rewarded(*servers[1], before.back(), false), Answer::accepted);
      }
    }
    std::atomic<bool> done = false;
    std::thread load([&] {
      while (!done) after.push_back(make(*servers[after.size() % 2]));
    });
    run("pg_dump -Fc -f " + dump + " '" + url + "'");
    done = true;
    load.join();
    for (int i = 0; i < 50; ++i) after.push_back(make(*servers[static_cast<std::size_t>(i) % 2]));
  }
  const Cluster other;
  run("pg_restore -d '" + other.url() + "' " + dump);
  // Ids that the old servers gave after the backup are not given again (docs/operations.md).
  Postgres(other.url()).execute("UPDATE pits.bandit SET next_id = next_id + 1073741824");
  const LogSummary restored = check_log(*read_log(other.url(), "shop"));
  EXPECT_GE(restored.decisions, 90U) << "what the servers had not written yet may be missing";
  EXPECT_EQ(restored.rewards, 50U);
  Fleet fleet({.url = other.url(), .model_age = 0.05});
  EXPECT_EQ(fleet.secret("tokens", [](const std::string& old) { return old; }), secret);
  const auto shop = fleet.open("shop");
  EXPECT_GT(shop->decider().model(), 0U) << "it decides by what was learned";
  std::set<DecisionId> ids;
  for (const auto* list : {&before, &after}) {
    for (const Made& made : *list) ids.insert(made.decided.id);
  }
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(ids.insert(make(*shop).decided.id).second) << "an id was given twice";
  EXPECT_EQ(rewarded(*shop, before[0], false), Answer::duplicate);
  EXPECT_EQ(rewarded(*shop, before[1], false), Answer::accepted);
  EXPECT_EQ(rewarded(*shop, after.back(), false), Answer::unknown) << "it was lost";
  EXPECT_EQ(rewarded(*shop, after.back(), true), Answer::accepted) << "and comes back with its token";
  EXPECT_EQ(rewarded(*shop, after.back(), true), Answer::duplicate);
  EXPECT_TRUE(comes_true([&] { return check_log(*read_log(other.url(), "shop")).rewards == 52; }));
  const LogSummary summary = check_log(*read_log(other.url(), "shop"));
  EXPECT_EQ(summary.restored, 1U);
  EXPECT_EQ(verify_log(*read_log(other.url(), "shop")).different, 0U);
}

}  // namespace
}  // namespace pits::test
