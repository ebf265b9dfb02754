// What a live bandit does by itself: it keeps its SIMD target and erases contexts.
#include <gtest/gtest.h>

#include "log/service.h"
#include "pits/core/simd/kernels.h"
#include "pits/log/audit.h"

namespace pits::test {
namespace {

const std::vector<float> x0 = {0.3F, -1.0F, 0.5F};

// A log goes on with the target it was written with, where the machine has it; the process has its own back afterwards.
TEST(Upkeep, KeepsItsSimdTarget) {
  const std::string own = simd_target(), other = simd_targets().back();
  force_simd_target(other);
  Service service(live_setup("pi-ts"));
  service.live->reward({service.live->decide(x0).id, 1.0F});
  service.live.reset();
  force_simd_target(own);
  service.open();
  EXPECT_EQ(simd_target(), other);
  service.live->reward({service.live->decide(x0).id, 1.0F});
  service.live.reset();
  EXPECT_EQ(simd_target(), own);
  EXPECT_TRUE(all_of<EngineChanged>(*service.store).empty());
  EXPECT_EQ(verify_log(*service.store).same, 2U);
  EXPECT_EQ(simd_target(), own);
  force_simd_target("");
}

// By the service itself, once settled contexts are older than it says; recorded, and a replay starts later from then
// on.
TEST(Upkeep, ErasesContextsAfterTheirRetention) {
  LiveConfig config{.propensity_draws = 20, .rewards = RewardRule::first, .retention = 30.0};
  Service service(live_setup("pi-ts", config));
  const Choice first = service.live->decide(x0, {}, {.key = "visit"});
  service.live->reward({first.id, 1.0F});
  const Choice waiting = service.live->decide(x0);  // it has not settled: no window closes here
  service.live->saved();
  EXPECT_TRUE(all_of<Erased>(*service.store).empty());
  service.clock.jump(31.0 * 86400.0);  // of the UTC clock: windows stay open
  const Choice late = service.live->decide(x0);
  service.live->reward({late.id, 1.0F});
  const std::string state = service.live->saved();
  ASSERT_EQ(all_of<Erased>(*service.store).size(), 1U);
  EXPECT_EQ(all_of<Erased>(*service.store)[0].reason, "retention");
  const auto decided = all_of<Decided>(*service.store);
  EXPECT_TRUE(decided[0].x.empty() && decided[0].key.empty());
  EXPECT_EQ(decided[1].x, x0);
  EXPECT_EQ(decided[2].x, x0);
  EXPECT_FALSE(service.live->find("visit"));
  EXPECT_EQ(service.live->reward({waiting.id, 1.0F}), Answer::accepted);
  service.live->saved();
  service.open();
  EXPECT_EQ(service.live->reward({first.id, 1.0F}), Answer::duplicate);
  EXPECT_EQ(check_log(*service.store).decisions, 3U);
}

}  // namespace
}  // namespace pits::test
