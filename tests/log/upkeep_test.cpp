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
  LiveConfig config{.propensity_draws = 20, .rewards = RewardRule::first, .window = 0.0, .retention = 30.0};
  Service service(live_setup("pi-ts", config));
  const Choice first = service.live->decide(x0, {}, {.key = "visit"});
  service.live->reward({first.id, 1.0F});
  const Choice waiting = service.live->decide(x0);  // it has not settled: no window closes here
  service.live->saved();
  EXPECT_TRUE(all_of<Erased>(*service.store).empty());
  service.clock.pass(31.0 * 86400.0);
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

// What is erased or dropped does not come back: a UTC clock that jumps forward must not make everything old.
TEST(Upkeep, AClockThatJumpsErasesNothing) {
  LiveConfig config{.propensity_draws = 20, .rewards = RewardRule::first, .retention = 30.0, .event_retention = 60.0};
  Service service(live_setup("lin-ts", config));
  constexpr double day = 86'400.0;
  const auto a_day = [&](double jump) {
    service.clock.pass(day);
    service.clock.jump(jump * day);
    const Choice choice = service.live->decide(x0);
    service.live->reward({choice.id, 1.0F});
    service.live->saved();
  };
  for (const double jump : {0.0, 1000.0, -2000.0, 1000.0, 400.0}) a_day(jump);
  EXPECT_TRUE(all_of<Erased>(*service.store).empty());
  EXPECT_EQ(service.store->oldest(), 0U);
  service.clock.pass(29.0 * day);
  a_day(-4000.0);  // nor does one that was set back keep anything
  EXPECT_TRUE(all_of<Decided>(*service.store)[0].x.empty());
  EXPECT_EQ(service.store->oldest(), 0U);
  for (int month = 0; month < 2; ++month) {
    service.clock.pass(29.0 * day);
    a_day(0.0);
  }
  EXPECT_GT(service.store->oldest(), 0U);
}

}  // namespace
}  // namespace pits::test
