// What servers that do not learn get of a model: a policy without observations; and what they say of their own engine.
#include "experiment/expect_error.h"
#include "fleet/servers.h"
#include "pits/log/audit.h"

namespace pits {

// Of core/simd/kernels.h, which has Rows of its own.
std::vector<std::string> simd_targets();
void force_simd_target(const std::string& name);

}  // namespace pits

namespace pits::test {
namespace {

using std::chrono::milliseconds;

using VersionsTest = WithServers;

// A follower with another SIMD target than the server that learns: its decisions name it and are not compared.
TEST_F(VersionsTest, DecisionsOfAnotherEngineSaySo) {
  const std::vector<std::string> targets = simd_targets();
  if (targets.size() < 2) GTEST_SKIP() << "the machine has one target";
  const std::string own = targets.front(), other = targets.back();
  const auto use = [](const std::string& target) {
    setenv("PITS_SIMD", target.c_str(), 1);  // it is not changed by the log
    force_simd_target(target);
  };
  use(own);
  EventNumber learned = 0;
  {
    Fleet one(config());
    one.create("shop", shop_setup());
    const auto here = one.open("shop");
    for (int i = 0; i < 10; ++i) reward(*here, {{decide(*here, fmt::format("k{}", i)).id, 1.0F}});
    learned = log()->last();
    EXPECT_TRUE(comes_true([&] { return log()->version() && log()->version()->number >= learned; }));
  }
  use(other);
  {
    Fleet two(config(false));
    const auto there = two.open("shop");
    EXPECT_GE(there->decider().model(), learned);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(decide(*there).engine, engine_name());
  }
  use(own);
  Fleet three(config());
  const auto here = three.open("shop");
  EXPECT_EQ(decide(*here, "last").engine, "");
  EXPECT_TRUE(comes_true([&] { return check_log(*log()).decisions == 31; }));
  const Verification found = verify_log(*log());
  EXPECT_EQ(found.other_engine, 20U);
  EXPECT_EQ(found.same, 11U);
  EXPECT_EQ(found.different, 0U);
  unsetenv("PITS_SIMD");
  force_simd_target("");
}

// A rolling upgrade: whoever takes the lease may have another build or SIMD target. The log says where, the state from
// there is kept, and each engine makes its own decisions again.
TEST_F(VersionsTest, AServerWithAnotherEngineTakesOver) {
  const std::vector<std::string> targets = simd_targets();
  if (targets.size() < 2) GTEST_SKIP() << "the machine has one target";
  LiveSetup setup = shop_setup();
  setup.agent = "pi-ts:released,hidden=8,particles=4,batch=16,train_every=10,train_steps=3";
  setup.config.training = TrainingPlace::in_line;
  std::vector<std::string> engines;
  for (const std::string& target : {targets.front(), targets.back(), targets.front()}) {
    setenv("PITS_SIMD", target.c_str(), 1);
    force_simd_target(target);
    engines.push_back(engine_name());
    Fleet server(config());
    const bool is_first = server.create("shop", setup);
    const auto here = server.open("shop");
    ASSERT_TRUE(is_first || comes_true([&] { return here->holding() != nullptr; }));
    for (int i = 0; i < 30; ++i) reward(*here, {{decide(*here).id, i % 3 == 0 ? 1.0F : 0.0F}});
    ASSERT_TRUE(comes_true([&] { return here->decider().model() == log()->last(); }));
    for (int i = 0; i < 10; ++i) EXPECT_EQ(decide(*here).engine, "") << "it is that of its model";
  }
  ASSERT_NE(engines[0], engines[1]);
  std::vector<std::string> changes;
  std::set<EventNumber> at;
  const auto store = log();
  for_each_event(*store, [&](EventNumber number, const GroupTime&, const pits::Event& event) {
    const auto* changed = std::get_if<EngineChanged>(&event);
    if (changed == nullptr) return;
    changes.push_back(changed->engine);
    at.insert(number);
  });
  EXPECT_EQ(changes, (std::vector<std::string>{engines[1], engines[0]}));
  for (const Snapshot& snapshot : store->snapshots()) {
    if (snapshot.base) at.erase(snapshot.number);
  }
  EXPECT_TRUE(at.empty()) << "the state at each change is kept";
  EXPECT_EQ(check_log(*store).decisions, 120U);
  const Verification found = verify_log(*store);
  EXPECT_EQ(found.different, 0U);
  EXPECT_EQ(found.other_engine, 40U);
  EXPECT_EQ(found.same, 80U);
  unsetenv("PITS_SIMD");
  force_simd_target("");
}

// What followers load has no context in it; they decide by it as a replay does.
TEST_F(VersionsTest, FollowersGetThePolicyAndNothingOfWhatWasObserved) {
  Fleet one(config()), two(config(false));
  LiveSetup setup = shop_setup();
  setup.agent = "pi-ts:released,hidden=8,particles=4,batch=16,train_every=10,train_steps=3";
  setup.config.training = TrainingPlace::in_line;
  one.create("shop", setup);
  const auto here = one.open("shop"), there = two.open("shop");
  for (int i = 0; i < 60; ++i) reward(*here, {{decide(*there).id, i % 3 == 0 ? 1.0F : 0.0F}});
  const EventNumber last = log()->last();
  EXPECT_TRUE(comes_true([&] { return there->decider().model() == last; }));
  for (int i = 0; i < 20; ++i) decide(*there);
  EXPECT_TRUE(comes_true([&] { return check_log(*log()).decisions == 80; }));
  EXPECT_EQ(verify_log(*log()).same, 80U);
  const std::vector<float> x{1.0F, -0.5F};  // every context
  const std::string context(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(float));
  const PolicyVersion version = log()->version().value();
  EXPECT_EQ(version.policy.find(context), std::string::npos);
  one.open("shop")->holding()->live.saved();
  EXPECT_NE(one.open("shop")->holding()->live.saved().find(context), std::string::npos) << "the test can see one";
}

}  // namespace
}  // namespace pits::test
