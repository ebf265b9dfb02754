// What a server says of itself while something is wrong, and while nothing is.
#include "fleet/servers.h"

namespace pits::test {
namespace {

using std::chrono::milliseconds;

using ReadinessTest = WithServers;

// Nobody has called it, so nobody learns it: there is nothing to learn.
TEST_F(ReadinessTest, ANewBanditHasNoOldPolicy) {
  Fleet one(config()), two(config(false));
  one.create("shop", shop_setup());
  const auto here = one.open("shop"), there = two.open("shop");
  std::this_thread::sleep_for(milliseconds(1300));  // every server has read the list of all bandits again
  for (const auto& server : {here, there}) {
    const LiveStatus status = server->status();
    EXPECT_EQ(status.model_age, 0.0);
    EXPECT_EQ(status.committed, 1U);
    EXPECT_EQ(status.learned, 1U);
    EXPECT_EQ(server->holding(), nullptr);
  }
  decide(*there, "k");
  EXPECT_TRUE(comes_true([&] { return there->decider().model() == log()->last(); }));
}

}  // namespace
}  // namespace pits::test
