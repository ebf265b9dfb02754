// Who holds a bandit's lease, and what becomes of it.
#include <future>

#include "experiment/expect_error.h"
#include "fleet/servers.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

using std::chrono::milliseconds;

using LeasesTest = WithServers;

bool everything_is_published(const PostgresStore& log) {
  const auto version = log.version();
  return version && version->number == log.last();
}

// A call that had found the lease here when the server decided that nobody needs it: it is written, and somebody
// learns it.
TEST_F(LeasesTest, ALateCallToAnIdleBanditIsLearned) {
  FleetConfig hasty = config();
  hasty.idle = 0.1;
  Fleet one(hasty);
  one.create("shop", shop_setup());
  const auto here = one.open("shop");
  std::shared_ptr<Holding> late;
  ASSERT_TRUE(comes_true([&] {  // it may be over already
    reward(*here, {{decide(*here, "k").id, 1.0F}});
    late = here->holding();
    return late != nullptr;
  }));
  ASSERT_TRUE(comes_true([&] { return here->holding() == nullptr; }));  // it waits for `late`
  const std::vector<float> x{1.0F, -0.5F};
  late->called = true;
  late->live.writer().add(here->decider().make(x, {}, {.key = "late"}, nullptr, false));
  late.reset();
  EXPECT_TRUE(comes_true([&] { return check_log(*log()).decisions == 2; }));
  EXPECT_TRUE(comes_true([&] { return everything_is_published(*log()); }));
}

// As long as a bandit is its own, a server that ends must not be taken for dead: what others begin to learn meanwhile
// it could not end.
TEST_F(LeasesTest, AServerThatEndsIsAliveUntilItHasHandedItsLeasesOn) {
  constexpr int bandits = 12;
  auto one = std::make_unique<Fleet>(config(true, 60.0));  // not taken for dead where the machine stalls
  std::vector<std::shared_ptr<FleetBandit>> open;
  for (int i = 0; i < bandits; ++i) {
    const std::string name = fmt::format("b{}", i);
    one->create(name, shop_setup());
    open.push_back(one->open(name));
    decide(*open.back(), "k");
  }
  for (const auto& bandit : open) ASSERT_TRUE(comes_true([&] { return bandit->holding() != nullptr; }));
  Postgres look(url);
  const std::int64_t id = look.run("SELECT id FROM pits.server").number(0, 0);
  const auto count = [&](const char* sql) { return look.run(sql, id).number(0, 0); };
  for (const auto& bandit : open) decide(*bandit, "last");
  std::atomic<bool> ended = false;
  auto end = std::async(std::launch::async, [&] {
    open.clear();
    one.reset();
    ended = true;
  });
  while (!ended) {  // it never comes back to life: so the order of the questions does no harm
    const bool alive = count(
                           "SELECT count(*) FROM pg_locks l, pits.server s WHERE s.id = $1 AND s.expires > now()"
                           " AND l.locktype = 'advisory' AND l.objid::bigint = s.id AND l.classid::bigint = 1885959283"
                           " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())") > 0;
    const std::int64_t held = count("SELECT count(*) FROM pits.bandit WHERE holder = $1");
    EXPECT_TRUE(alive || held == 0) << held << " bandits are held by a server that seems dead";
    if (!alive && held > 0) break;
  }
  end.get();
  const Rows behind =
      look.run("SELECT count(*) FROM pits.bandit b JOIN pits.policy p ON p.bandit = b.id WHERE p.number = b.last");
  EXPECT_EQ(behind.number(0, 0), bandits) << "what it wrote last was learned by it";
  Fleet two(config());
  EXPECT_EQ(decide(*two.open("b0"), "next").key, "next") << "its patience is shorter than the lease of the first";
}

class ClockOfAMachine : public Clock {
 public:
  explicit ClockOfAMachine(Microseconds ahead) : ahead_(ahead) {}
  Microseconds utc() const override { return system_clock().utc() + ahead_; }
  Microseconds steady() const override { return system_clock().steady(); }

 private:
  Microseconds ahead_;
};

// A window of 100 s; the lease moves four times between machines whose clocks differ by 60 s.
TEST_F(LeasesTest, WindowsDoNotCloseEarlierWhereClocksDiffer) {
  const ClockOfAMachine right(0), fast(60'000'000);
  FleetConfig first = config(), second = config();
  first.clock = &right;
  second.clock = &fast;
  std::optional<Decided> made;
  {
    Fleet one(first);
    one.create("shop", shop_setup(RewardRule::sum, 100.0));
    made = decide(*one.open("shop"), "k");
  }
  for (int move = 0; move < 4; ++move) {
    Fleet server(move % 2 == 0 ? second : first);
    decide(*server.open("shop"), fmt::format("k{}", move));
  }
  Fleet one(first);
  EXPECT_EQ(reward(*one.open("shop"), {{made->id, 1.0F}}), std::vector{Answer::accepted});
  EXPECT_EQ(check_log(*log()).settled, 0U);
}

class DamagedLogTest : public WithServers {
 protected:
  // Bandits `bad` and `good` that nobody holds, and servers that know them; then the log of `bad` is damaged.
  void SetUp() override {
    WithServers::SetUp();
    if (url.empty()) return;
    {
      FleetConfig hasty = config();
      hasty.idle = 0.1;
      Fleet maker(hasty);
      for (const char* name : {"bad", "good"}) {
        maker.create(name, shop_setup());
        decide(*maker.open(name), "k");
        ASSERT_TRUE(comes_true([&] { return maker.open(name)->holding() == nullptr; }));
      }
    }
    learner = std::make_unique<Fleet>(config());
    follower = std::make_unique<Fleet>(config(false));
    for (Fleet* server : {learner.get(), follower.get()}) server->open("bad"), server->open("good");
    change_last_byte("bad");
  }
  // A second time mends it.
  void change_last_byte(const std::string& name) {
    Postgres(url).run(
        "UPDATE pits.event e SET bytes = set_byte(bytes, length(bytes) - 1, 255 - get_byte(bytes, length(bytes) - 1))"
        " FROM pits.bandit b WHERE b.id = e.bandit AND b.name = convert_from($1, 'UTF8') AND e.first = 2",
        name);
  }
  Rows row_of(const std::string& name) {
    return Postgres(url).run(
        "SELECT epoch, coalesce(holder, -1), id FROM pits.bandit WHERE name = convert_from($1, 'UTF8')", name);
  }
  std::unique_ptr<Fleet> learner, follower;
};

TEST_F(DamagedLogTest, IsReportedAndStopsNoOtherBandit) {
  const auto bad = learner->open("bad");
  std::atomic<int> answered = 0;
  for (int i = 0; i < 400; ++i) {  // more than are read at once
    follower->open("bad")->reward({{1, 1.0F}}, [&](const auto&, const std::exception_ptr&) { ++answered; });
  }
  ASSERT_TRUE(comes_true([&] { return !bad->status().store_problem.empty(); }));
  expect_mentions(bad->status().store_problem, {"cannot be recovered"});
  EXPECT_EQ(decide(*follower->open("good"), "next").key, "next");
  EXPECT_EQ(learner->open("good")->status().problem, "");
  // The lease is given back, and not taken all the time.
  const std::int64_t epoch = row_of("bad").number(0, 0);
  std::this_thread::sleep_for(milliseconds(1000));
  EXPECT_LE(row_of("bad").number(0, 0), epoch + 2);
  EXPECT_TRUE(comes_true([&] { return row_of("bad").number(0, 1) == 0; }));
  change_last_byte("bad");
  EXPECT_TRUE(comes_true([&] { return bad->holding() != nullptr && bad->status().problem.empty(); }));
  EXPECT_EQ(decide(*follower->open("bad"), "again").key, "again");
  follower.reset();
  EXPECT_EQ(answered, 400);
}

// Its answer has to name the earlier decision, which can be read once the group is written.
TEST_F(LeasesTest, TheSameKeyTwiceInAGroupIsNoBadInput) {
  Fleet one(config());
  one.create("shop", shop_setup());
  const auto here = one.open("shop");
  decide(*here, "k");
  ASSERT_TRUE(comes_true([&] { return here->holding() != nullptr; }));
  const std::vector<float> x{1.0F, -0.5F};
  const auto call = [&](const std::string& key) {
    return Call{.kind = CallKind::decided,
                .decided = std::make_shared<const Decided>(here->decider().make(x, {}, {.key = key}, nullptr, false))};
  };
  const Call first = call("new"), second = call("new");
  here->holding()->live.writer().call([&](Ledger& ledger) {
    EXPECT_EQ(perform(ledger, here->decider(), first, true).refusal, "");
    EXPECT_THROW(perform(ledger, here->decider(), second, true), NotYet);
    return 0;
  });
  std::vector<std::future<Decided>> both;
  for (int i = 0; i < 20; ++i) both.push_back(std::async(std::launch::async, [&] { return decide(*here, "same"); }));
  const DecisionId id = both[0].get().id;
  for (std::size_t i = 1; i < both.size(); ++i) EXPECT_EQ(both[i].get().id, id);
}

// Of a newer pits, perhaps, or damaged: who waits is told, and the lease stays where it is.
TEST_F(LeasesTest, ACallThatCannotBeReadIsAnsweredWithThat) {
  Fleet one(config());
  one.create("shop", shop_setup());
  const auto here = one.open("shop");
  decide(*here, "k");
  Postgres database(url);
  const auto epoch = [&] { return database.run("SELECT epoch FROM pits.bandit").number(0, 0); };
  const std::int64_t before = epoch();
  std::string newer = packed(std::vector<Call>(1));
  newer[0] = 9;
  database.run("INSERT INTO pits.inbox(sender, n, bandit, calls) VALUES(77, 1, $1, $2)", here->id(), newer);
  const auto answers = [&] {
    return database.run("SELECT answers FROM pits.inbox WHERE sender = 77 AND answers IS NOT NULL");
  };
  ASSERT_TRUE(comes_true([&] { return answers().size() == 1; }));
  expect_mentions(unpacked<std::vector<CallAnswer>>(answers().text(0, 0)).at(0).failure, {"version 9", "version 1"});
  expect_mentions(here->status().problem, {"version 9"});
  EXPECT_EQ(decide(*here, "k2").key, "k2");
  EXPECT_EQ(epoch(), before);
}

}  // namespace
}  // namespace pits::test
