// What must not wait: that a server is alive, that it ends, that a bandit is made.
#include "fleet/servers.h"
#include "fleet/slow_link.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

using std::chrono::milliseconds;

using EndsTest = WithServers;

// Ids are reserved in the bandit's row, which somebody else has locked for as long as a statement is waited for.
TEST_F(EndsTest, AServerThatWaitsForIdsIsAlive) {
  Fleet maker(config(false, 60.0)), one(config(true, 4.0));
  maker.create("shop", shop_setup());
  Postgres lock(url), look(url);
  lock.execute("SET idle_in_transaction_session_timeout = 0; BEGIN; SELECT 1 FROM pits.bandit FOR UPDATE");
  auto opened = std::async(std::launch::async, [&] { return one.open("shop"); });
  const auto waiting = [&] {
    return look
        .run(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type ="
            " 'Lock' AND query LIKE '%next_id%'")
        .number(0, 0);
  };
  EXPECT_TRUE(comes_true([&] { return waiting() >= 2; })) << "who opens it, and who looks after ids";
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < milliseconds(5500)) {
    ASSERT_EQ(look.run("SELECT count(*) FROM pits.server WHERE expires > now()").number(0, 0), 2);
    std::this_thread::sleep_for(milliseconds(20));
  }
  lock.execute("COMMIT");
  EXPECT_THROW(opened.get(), Error);
  const auto shop = one.open("shop");
  EXPECT_TRUE(comes_true([&] { return !shop->needs_ids(); }));
}

// A long log that is read over a slow link: the server does not wait for its end, and keeps what it has learned.
TEST_F(EndsTest, ARecoveryIsGivenUp) {
  SlowLink link(url);
  if (!link.there()) GTEST_SKIP() << "python3 is not installed";
  constexpr std::uint64_t decisions = 60'000;
  {
    Fleet maker(config());
    maker.create("shop", shop_setup());
    const auto shop = maker.open("shop");
    for (std::uint64_t i = 0; i < decisions; ++i) {
      decide(*shop);
      if (i % 1000 == 0) {
        ASSERT_TRUE(comes_true([&] { return shop->status().queued < 50'000; }));
      }
    }
    ASSERT_TRUE(comes_true([&] { return check_log(*log()).decisions == decisions; }));
  }
  Postgres database(url);
  database.execute("DELETE FROM pits.snapshot; UPDATE pits.bandit SET holder = NULL");
  const EventNumber last = log()->last();
  FleetConfig slow = config(true, 60.0);
  slow.url = link.url();
  auto one = std::make_unique<Fleet>(slow);
  auto shop = one->open("shop");
  link.delay(0.02);
  shop->reward({{1, 1.0F}}, [](const auto&, const std::exception_ptr&) {});
  ASSERT_TRUE(comes_true([&] { return database.run("SELECT 1 FROM pits.bandit WHERE holder > 0").size() > 0; }));
  shop.reset();
  one.reset();
  EXPECT_EQ(database.run("SELECT holder FROM pits.bandit").number(0, 0), 0) << "another server may go on";
  const auto kept = log()->snapshots();
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_LT(kept[0].number, last);
  EXPECT_GE(kept[0].number, 10'000U);
}

TEST_F(EndsTest, TwoServersMakeTheSameBandit) {
  Fleet one(config(false, 60.0)), two(config(false, 60.0));
  for (int i = 0; i < 50; ++i) {
    const std::string name = fmt::format("b{}", i);
    auto other = std::async(std::launch::async, [&] { return two.create(name, shop_setup()); });
    const bool here = one.create(name, shop_setup()), there = other.get();
    EXPECT_TRUE(here != there) << name;
    EXPECT_EQ(one.open(name)->name(), name);
    EXPECT_EQ(two.open(name)->name(), name);
  }
}

}  // namespace
}  // namespace pits::test
