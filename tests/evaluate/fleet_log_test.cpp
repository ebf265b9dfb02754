// The log of a fleet, read from its database: the same rounds as from a copy of it in a directory.
#include "experiment/expect_error.h"
#include "fleet/cluster.h"
#include "log/service.h"
#include "pits/evaluate/read/read_log.h"
#include "pits/fleet/lone_lease.h"
#include "pits/fleet/tables.h"
#include "pits/log/audit.h"
#include "pits/log/event_json.h"

namespace pits::test {
namespace {

const std::string fixtures = PITS_TEST_DIR;

using FleetLog = WithDatabase;

// tables-1.sql has the log of store-2 as its bandit `shop`.
TEST_F(FleetLog, IsReadAsItsCopyIs) {
  Postgres database(url);
  database.execute(bytes_of(fixtures + "/fleet/fixtures/tables-1.sql"));
  migrate(database);
  const Scratch scratch;
  std::filesystem::copy(fixtures + "/log/fixtures/store-2", scratch / "copy");
  const LoggedData expected = read_log(scratch / "copy");
  const LoggedData found = read_event_log(*read_log(url, "shop"), "shop", {});
  EXPECT_GT(expected.rewards.size(), 2U);
  EXPECT_EQ(found.rewards, expected.rewards);
  EXPECT_EQ(found.actions, expected.actions);
  EXPECT_EQ(found.propensities, expected.propensities);
}

// Old events were dropped: the rounds of the decisions that are left, from the store and from its exported lines.
TEST(DroppedLog, GivesTheRoundsThatAreLeft) {
  Service service(live_setup(
      "lin-ts", {.propensity_draws = 20, .rewards = RewardRule::first, .window = 3600.0, .event_retention = 10.0}));
  service.live->add_actions({"later"});
  for (int hour = 0; hour < 30 * 24; ++hour) {
    service.clock.pass(3600.0);
    const Choice choice = service.live->decide(std::vector<float>{0.5F, 1.0F, static_cast<float>(hour)});
    if (hour % 3 == 0) service.live->reward({choice.id, 1.0F});
    service.live->flush();
    if (hour % 24 == 0) service.live->saved();
  }
  service.live->saved();
  service.live.reset();
  const MemoryStore& store = *service.store;
  ASSERT_GT(store.oldest(), 0U);
  const LoggedData data = read_event_log(store, "shop", {});
  const LogSummary summary = check_log(store);
  EXPECT_EQ(data.rounds() + data.counts.waiting, summary.decisions);
  EXPECT_GT(data.rounds(), 9U * 24);
  EXPECT_LT(data.rounds(), 12U * 24);
  EXPECT_EQ(data.K(), 5U);
  const Scratch scratch;
  std::string lines, without;
  for_each_event(store, [&](EventNumber number, const GroupTime& time, const pits::Event& event) {
    const std::string line = to_json({number, time, event}) + "\n";
    lines += line;
    if (number != store.oldest() + 100) without += line;
  });
  write_bytes(scratch / "shop.jsonl", lines);
  EXPECT_EQ(read_log(scratch / "shop.jsonl").rewards, data.rewards);
  write_bytes(scratch / "damaged.jsonl", without);
  expect_mentions(message_of([&] { read_log(scratch / "damaged.jsonl"); }), {"must follow"});
}

}  // namespace
}  // namespace pits::test
