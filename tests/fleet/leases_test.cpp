// Who holds a bandit's lease, and what becomes of it.
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
  reward(*here, {{decide(*here, "k").id, 1.0F}});
  auto late = here->holding();
  ASSERT_NE(late, nullptr);
  ASSERT_TRUE(comes_true([&] { return here->holding() == nullptr; }));  // it waits for `late`
  const std::vector<float> x{1.0F, -0.5F};
  late->called = true;
  late->live.writer().add(here->decider().make(x, {}, {.key = "late"}, nullptr, false));
  late.reset();
  EXPECT_TRUE(comes_true([&] { return check_log(*log()).decisions == 2; }));
  EXPECT_TRUE(comes_true([&] { return everything_is_published(*log()); }));
}

}  // namespace
}  // namespace pits::test
