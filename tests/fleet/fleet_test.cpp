// Servers of a fleet in one process: every one answers every bandit, one learns, another takes over.
#include "pits/fleet/fleet.h"

#include "experiment/expect_error.h"
#include "fleet/servers.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

using std::chrono::milliseconds;

using FleetTest = WithServers;

TEST_F(FleetTest, EveryServerAnswersEveryBandit) {
  Fleet one(config()), two(config()), three(config(false));
  EXPECT_TRUE(one.create("shop", shop_setup()));
  EXPECT_FALSE(two.create("shop", shop_setup()));
  const std::vector servers{one.open("shop"), two.open("shop"), three.open("shop")};
  std::set<DecisionId> ids;
  std::vector<Decided> made;
  for (int i = 0; i < 60; ++i) {
    made.push_back(decide(*servers[static_cast<std::size_t>(i) % 3]));
    EXPECT_TRUE(ids.insert(made.back().id).second);
  }
  // Each is rewarded at another server than the one that made it, at once, and then again everywhere.
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(reward(*servers[(i + 1) % 3], {{made[i].id, 1.0F}}), std::vector{Answer::accepted}) << i;
  }
  for (const auto& server : servers) {
    EXPECT_EQ(reward(*server, {{made[7].id, 1.0F}, {made[8].id, 1.0F}}),
              (std::vector{Answer::duplicate, Answer::duplicate}));
    EXPECT_EQ(reward(*server, {{1, 1.0F}}), std::vector{Answer::unknown});
  }
  EXPECT_TRUE(comes_true([&] { return check_log(*log()).settled == 60; }));
  // Followers get what was learned, and decide by it as a replay does.
  const EventNumber last = log()->last();
  for (const auto& server : servers) EXPECT_TRUE(comes_true([&] { return server->decider().model() == last; }));
  for (int i = 0; i < 30; ++i) decide(*servers[static_cast<std::size_t>(i) % 3]);
  EXPECT_TRUE(comes_true([&] { return check_log(*log()).decisions == 90; }));
  const Verification verified = verify_log(*log());
  EXPECT_EQ(verified.same, 90U);
  EXPECT_EQ(verified.different, 0U);
}

TEST_F(FleetTest, AKeyHasOneDecisionWhereverItIsAskedFor) {
  Fleet one(config()), two(config(false));
  one.create("shop", shop_setup());
  const auto here = one.open("shop"), there = two.open("shop");
  const Decided first = decide(*there, "cart 1");
  EXPECT_EQ(decide(*here, "cart 1").id, first.id);
  EXPECT_EQ(decide(*there, "cart 1").id, first.id);
  EXPECT_NE(decide(*here, "cart 2").id, first.id);
  EXPECT_EQ(there->find("cart 1"), first.id);
  EXPECT_EQ(reward(*here, {{first.id, 1.0F}}), std::vector{Answer::accepted});
}

TEST_F(FleetTest, BadInputIsRefusedByWhoeverIsAsked) {
  Fleet one(config()), two(config(false));
  LiveSetup setup = shop_setup();
  setup.config.reward_range = RewardRange{.low = 0.0F, .high = 1.0F};
  one.create("shop", setup);
  for (Fleet* server : {&one, &two}) {
    const auto bandit = server->open("shop");
    const Decided made = decide(*bandit, "k");
    EXPECT_EQ(bandit->status().problem, "");
    expect_mentions(message_of([&] { reward(*bandit, {{made.id, 0.5F}, {made.id, 7.0F}}); }), {"between 0 and 1"});
    expect_mentions(message_of([&] { bandit->add_actions({"z", "z"}); }), {"'z' already"});
  }
  EXPECT_EQ(check_log(*log()).rewards, 0U);
}

TEST_F(FleetTest, ChangesReachEveryServer) {
  Fleet one(config()), two(config(false));
  one.create("shop", shop_setup());
  const auto here = one.open("shop"), there = two.open("shop");
  EXPECT_EQ(there->add_actions({"d", "e"}), 3U);
  there->retire(0);
  LiveConfig changed = there->config();
  changed.most_rewards = 7;
  there->change_config(changed);
  for (const auto& server : {here, there}) {
    EXPECT_TRUE(comes_true([&] { return server->decider().actions().size() == 5; }));
    EXPECT_TRUE(comes_true([&] { return server->decider().retired()[0] == 1; }));
    EXPECT_EQ(server->decider().name(4), "e");
  }
  EXPECT_TRUE(comes_true([&] { return there->config().most_rewards == 7; }));
  EXPECT_TRUE(comes_true([&] { return one.open("shop")->holding()->live.config().most_rewards == 7; }));
}

TEST_F(FleetTest, AnotherServerGoesOnWhereOneEnded) {
  auto one = std::make_unique<Fleet>(config());
  one->create("shop", shop_setup(RewardRule::sum, 1.0));
  std::vector<Decided> made;
  {
    const auto bandit = one->open("shop");
    for (int i = 0; i < 20; ++i) made.push_back(decide(*bandit));
    reward(*bandit, {{made[0].id, 1.0F, "a"}});
  }
  Fleet two(config());
  const auto bandit = two.open("shop");
  one.reset();  // hands its leases on
  EXPECT_TRUE(comes_true([&] { return bandit->holding() != nullptr; }));
  // Windows close, whoever looks.
  EXPECT_TRUE(comes_true([&] { return check_log(*log()).settled == 20; }));
  EXPECT_EQ(reward(*bandit, {{made[0].id, 1.0F, "a"}, {made[1].id, 1.0F, "b"}}),
            (std::vector{Answer::duplicate, Answer::expired}));
}

TEST_F(FleetTest, WhoWaitsWhenAServerEndsIsTold) {
  int told = 0;
  {
    Fleet follower(config(false));  // nobody learns: no answer can come
    std::vector<std::shared_ptr<FleetBandit>> bandits;
    for (const char* name : {"shop", "home"}) {
      follower.create(name, shop_setup());
      bandits.push_back(follower.open(name));
    }
    for (const auto& bandit : bandits) {
      bandit->reward({{1, 1.0F}}, [&told](const std::vector<Answer>&, const std::exception_ptr& error) {
        ++told;
        EXPECT_THROW(std::rethrow_exception(error), Error);
      });
    }
    bandits.clear();  // the fleet has them until its end
  }
  EXPECT_EQ(told, 2);
}

// A lease that was taken over: what the old holder writes is refused, and goes the other way.
TEST_F(FleetTest, AHolderThatLostItsLeaseIsRefusedAndFollows) {
  Fleet one(config()), two(config(false));
  one.create("shop", shop_setup());
  const auto here = one.open("shop");
  const Decided made = decide(*here, "k");
  ASSERT_TRUE(comes_true([&] { return here->holding() != nullptr; }));
  const std::weak_ptr<Holding> before = here->holding();
  Postgres(url).execute("UPDATE pits.bandit SET epoch = epoch + 1");
  EXPECT_EQ(reward(*here, {{made.id, 1.0F}}), std::vector{Answer::accepted});  // by the lease that it takes anew
  EXPECT_TRUE(before.expired());
  EXPECT_EQ(check_log(*log()).rewards, 1U);
}

TEST_F(FleetTest, ComesBackWhenTheDatabaseDoes) {
  Fleet one(config()), two(config(false));
  one.create("shop", shop_setup());
  const auto here = one.open("shop"), there = two.open("shop");
  decide(*there, "k");
  std::size_t made = 1;
  for (int round = 0; round < 8; ++round) {
    Cluster::end_sessions(url);
    for (const auto& server : {here, there}) {
      decide(*server);
      ++made;
    }
  }
  EXPECT_TRUE(comes_true([&] { return check_log(*log()).decisions == made; }));
  EXPECT_TRUE(comes_true([&] { return one.problem().empty() && two.problem().empty(); }));
}

// A row need not be durable before it is answered. Here the database forgets rows as a crash would.
TEST_F(FleetTest, CallsThatTheDatabaseHasLostAreSentAgain) {
  FleetConfig patient = config(false);
  patient.patience = 60.0;
  Fleet two(patient);
  two.create("shop", shop_setup());
  const auto there = two.open("shop");
  const Decided unkeyed = decide(*there);
  const auto rows = [&] { return Postgres(url).run("SELECT count(*) FROM pits.inbox").number(0, 0); };
  ASSERT_TRUE(comes_true([&] { return rows() == 1; }));
  Postgres(url).execute("DELETE FROM pits.inbox");
  Cluster::end_sessions(url);
  auto keyed = std::async(std::launch::async, [&] { return decide(*there, "k"); });
  ASSERT_TRUE(comes_true([&] { return rows() == 2; })) << "by a new connection, on which the lost one comes first";
  Postgres(url).execute("DELETE FROM pits.inbox WHERE n = (SELECT max(n) FROM pits.inbox)");
  const Decided later = decide(*there);
  Fleet one(config());
  EXPECT_EQ(keyed.get().key, "k");
  EXPECT_TRUE(comes_true([&] { return check_log(*log()).decisions == 3; }));
  EXPECT_EQ(reward(*there, {{unkeyed.id, 1.0F}, {later.id, 1.0F}}), (std::vector{Answer::accepted, Answer::accepted}));
}

// It may send a call again whose answer it has not seen: that must stay the same call.
TEST_F(FleetTest, AnswersOutliveASenderThatIsTakenForDead) {
  Fleet one(config()), two(config(false));
  one.create("shop", shop_setup());
  decide(*two.open("shop"), "k");
  Postgres database(url);
  const auto answered = [&] {
    return database.run("SELECT count(*) FROM pits.inbox WHERE answers IS NOT NULL").number(0, 0);
  };
  ASSERT_EQ(answered(), 1);
  const auto follower = [&] { return database.run("SELECT id, expires > now() FROM pits.server WHERE NOT learns"); };
  database.execute("UPDATE pits.server SET expires = now() - interval '1 hour' WHERE NOT learns");
  EXPECT_TRUE(comes_true([&] { return follower().size() == 1 && follower().truth(0, 1); }));  // it is back
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(answered(), 1);
}

TEST_F(FleetTest, AClientThatIsFrozenInATransactionKeepsNoLock) {
  Fleet one(config());
  one.create("shop", shop_setup());
  Postgres frozen(url), other(url);
  frozen.execute("BEGIN");
  frozen.execute("UPDATE pits.bandit SET epoch = epoch + 1");
  EXPECT_EQ(other.run("UPDATE pits.bandit SET epoch = epoch + 1 RETURNING epoch").size(), 1);
  EXPECT_THROW(frozen.execute("COMMIT"), ConnectionError);
}

TEST_F(FleetTest, SharesTheBanditsAndLeavesIdleOnesAlone) {
  Fleet one(config()), two(config());
  std::vector<std::shared_ptr<FleetBandit>> first, second;
  for (int i = 0; i < 12; ++i) {
    const std::string name = fmt::format("b{}", i);
    one.create(name, shop_setup());
    first.push_back(one.open(name));
    second.push_back(two.open(name));
  }
  for (const auto& bandit : first) EXPECT_EQ(bandit->holding(), nullptr);  // nobody has called
  for (const auto& bandit : first) decide(*bandit, "k");
  const auto held = [](const auto& all) {
    return std::ranges::count_if(all, [](const auto& b) { return b->holding() != nullptr; });
  };
  EXPECT_TRUE(comes_true([&] { return held(first) > 0 && held(second) > 0 && held(first) + held(second) == 12; }));
}

TEST_F(FleetTest, SecretsAreMadeOnce) {
  Fleet one(config()), two(config());
  const auto made = one.secret("s", [](const std::string& old) { return old + "x"; });
  EXPECT_EQ(made, "x");
  EXPECT_EQ(two.secret("s", [](const std::string& old) { return old.empty() ? "y" : old; }), "x");
}

}  // namespace
}  // namespace pits::test
