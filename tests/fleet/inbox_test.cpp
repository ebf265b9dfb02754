// The rows by which calls go from server to server: how they are read, waited for and removed.
#include "fleet/servers.h"
#include "fleet/slow_link.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

using std::chrono::milliseconds;

class InboxTest : public WithServers {
 protected:
  std::int64_t number(const std::string& sql) const { return Postgres(url).run(sql).number(0, 0); }
  std::int64_t open_rows() const { return number("SELECT count(*) FROM pits.inbox WHERE answers IS NULL"); }
  // How often senders' rows were looked at in a second meanwhile.
  template <class Work>
  double looks_per_second(Work&& work) const {
    const std::string looks =
        "SELECT idx_scan FROM pg_stat_user_indexes WHERE schemaname = 'pits' AND indexrelname = 'inbox_open'";
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t before = number(looks);
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return static_cast<double>(number(looks) - before) / took.count();
  }
};

// Every 10 ms for each of two senders, and when a word comes or a row is due: 180 to 260. Every millisecond: 870.
constexpr double most_looks = 500.0;

// The rows that come first are being carried out, and that takes long. They are not read again and again, and those
// behind them are read.
TEST_F(InboxTest, WhatIsBeingCarriedOutKeepsNothingElseWaiting) {
  FleetConfig patient = config(false);
  patient.patience = 60.0;
  Fleet one(config()), two(patient);
  std::vector<std::shared_ptr<FleetBandit>> here, there;
  for (const char* name : {"stuck", "good"}) {
    one.create(name, shop_setup());
    here.push_back(one.open(name)), there.push_back(two.open(name));
    decide(*there.back(), "k");
    ASSERT_TRUE(comes_true([&] { return here.back()->holding() != nullptr; }));
  }
  std::promise<void> go_on;
  here[0]->holding()->live.writer().add(
      {.apply = [go = go_on.get_future().share()](Ledger&) { go.wait(); }, .finish = [](auto&&...) {}});
  std::atomic<int> answered = 0;
  constexpr int calls = 700;  // more than are read at once, twice
  for (int i = 0; i < calls; ++i) {
    there[0]->reward({{1, 1.0F}}, [&](const auto&, const std::exception_ptr&) { ++answered; });
  }
  EXPECT_TRUE(comes_true([&] { return open_rows() == calls; }));
  const double looks = looks_per_second([&] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(milliseconds(1100));  // all are looked at again
      EXPECT_EQ(decide(*there[1], fmt::format("k{}", i)).key, fmt::format("k{}", i));
    }
  });
  EXPECT_EQ(answered, 0);
  EXPECT_LT(looks, most_looks);
  go_on.set_value();
  EXPECT_TRUE(comes_true([&] { return answered == calls; }));
}

// 24 MB at 4 MB per second: more than comes before a question is given up.
TEST_F(InboxTest, ManyMegabytesReachAServerOnASlowLink) {
  SlowLink link(url);
  if (!link.there()) GTEST_SKIP() << "python3 is not installed";
  Fleet two(config(false));
  two.create("shop", shop_setup());
  const auto there = two.open("shop");
  constexpr std::uint64_t decisions = 24;
  const std::vector<float> x{1.0F, -0.5F};
  for (std::uint64_t i = 0; i < decisions; ++i) {
    Decided made = there->decider().make(x, {}, {}, nullptr, false);
    made.context = std::string(1 << 20, 'c');
    EXPECT_TRUE(there->write(std::move(made)));
  }
  EXPECT_TRUE(comes_true([&] { return there->status().queued == 0; }));
  FleetConfig slow = config(true, 30.0);
  slow.url = link.url();
  Fleet one(slow);
  link.delay(0.015);
  const auto start = std::chrono::steady_clock::now();
  const auto written = [&] { return number("SELECT coalesce(sum(length(bytes)), 0)::bigint FROM pits.event"); };
  while (written() < std::int64_t{decisions} << 20 &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(120)) {
    std::this_thread::sleep_for(milliseconds(50));
  }
  link.delay(0.0);
  EXPECT_EQ(check_log(*log()).decisions, decisions);
}

// For half a second the decision may be on its way; nobody looks for it every millisecond.
TEST_F(InboxTest, AnUnknownDecisionIsLookedForLessAndLessOften) {
  Fleet one(config()), two(config(false));
  one.create("shop", shop_setup());
  const auto here = one.open("shop"), there = two.open("shop");
  decide(*there, "k");
  const double looks = looks_per_second([&] {
    for (int i = 0; i < 6; ++i) EXPECT_EQ(reward(*there, {{1, 1.0F}}), std::vector{Answer::unknown});
  });
  EXPECT_LT(looks, most_looks);
}

// Who sends nothing more removes what was answered, after a while and not before.
TEST_F(InboxTest, AnsweredCallsAreRemovedWhereNothingIsSent) {
  Postgres database(url);
  migrate(database);
  database.execute("INSERT INTO pits.bandit(name) VALUES('shop')");
  Outbox outbox(
      url, 7, std::chrono::seconds(10), [](LinkPart, const std::string&) {}, milliseconds(1500));
  std::promise<void> told;
  const auto asked = std::chrono::steady_clock::now();
  outbox.add(1, {.kind = CallKind::retire}, [&](const CallAnswer*, const std::exception_ptr&) { told.set_value(); });
  ASSERT_TRUE(comes_true([&] { return open_rows() == 1; }));
  database.run("UPDATE pits.inbox SET answers = $1", packed(std::vector<CallAnswer>(1)));
  outbox.look();
  told.get_future().get();
  EXPECT_TRUE(comes_true([&] { return number("SELECT count(*) FROM pits.inbox") == 0; }));
  EXPECT_GE(std::chrono::steady_clock::now() - asked, milliseconds(1500));
}

TEST_F(InboxTest, CallsToRemovedBanditsAreRemoved) {
  Postgres database(url);
  migrate(database);
  database.execute(
      "INSERT INTO pits.bandit(name) VALUES('shop');"
      "INSERT INTO pits.inbox(sender, n, bandit, calls, answers) VALUES(7, 1, 1, 'a', NULL), (7, 2, 1, '', 'b'),"
      " (7, 3, 2, 'a', NULL), (8, 1, 2, '', 'b'), (8, 0, 0, '', NULL)");
  clean_inbox(database);
  const Rows left = database.run("SELECT sender, n FROM pits.inbox ORDER BY sender, n");
  ASSERT_EQ(left.size(), 3)
      << "those of a bandit that is there, and the one by which a server tries whether it can write";
  EXPECT_EQ(left.number(0, 1), 1);
  EXPECT_EQ(left.number(1, 1), 2);
  EXPECT_EQ(left.number(2, 1), 0);
}

}  // namespace
}  // namespace pits::test
