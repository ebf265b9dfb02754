// What servers that do not learn get of a model: a policy without observations; and what they say of their own engine.
#include <future>

#include "experiment/expect_error.h"
#include "fleet/cluster.h"
#include "pits/fleet/fleet.h"
#include "pits/log/audit.h"

namespace pits {

// Of core/simd/kernels.h, which has Rows of its own.
std::vector<std::string> simd_targets();
void force_simd_target(const std::string& name);

}  // namespace pits

namespace pits::test {
namespace {

using std::chrono::milliseconds;

LiveSetup shop_setup() {
  return {.agent = "lin-ts",
          .context_size = 2,
          .actions = {"a", "b", "c"},
          .seed = 5,
          .config = {.rewards = RewardRule::first, .window = 0.0}};
}

template <class Condition>
bool comes_true(Condition&& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

Decided decide(FleetBandit& bandit, const std::string& key = "") {
  const std::vector<float> x{1.0F, -0.5F};
  Decided made = bandit.decider().make(x, {}, {.key = key}, nullptr, false);
  if (key.empty()) {
    bandit.write(made);
    return made;
  }
  std::promise<Decided> written;
  bandit.write(made, [&](const Decided* decided, const std::exception_ptr& error) {
    error ? written.set_exception(error) : written.set_value(*decided);
  });
  return written.get_future().get();
}

std::vector<Answer> reward(FleetBandit& bandit, std::vector<Reward> rewards) {
  std::promise<std::vector<Answer>> answered;
  bandit.reward(std::move(rewards), [&](std::vector<Answer> answers, const std::exception_ptr& error) {
    error ? answered.set_exception(error) : answered.set_value(std::move(answers));
  });
  return answered.get_future().get();
}

class VersionsTest : public WithDatabase {
 protected:
  FleetConfig config(bool learns = true, double lease = 1.0) const {
    return {.url = url, .learns = learns, .lease = lease, .model_age = 0.05};
  }
  std::unique_ptr<PostgresStore> log(const std::string& name = "shop") const {
    auto pool = std::make_shared<PostgresPool>(url);
    const BanditId id = find_bandit(*pool->take(), name).value();
    return std::make_unique<PostgresStore>(std::move(pool), id);
  }
};

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
