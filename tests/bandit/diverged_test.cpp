// One huge context: a training that diverges is undone and says so, and decisions go on as before it.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"
#include "pits/agent/network/vi_ts.h"
#include "pits/agent/particle/feature_ts.h"
#include "pits/agent/particle/pi_ts.h"

namespace pits::test {
namespace {

const std::vector<float> x0 = {0.3F, -1.0F, 0.5F};
const std::vector<float> huge = {1e19F, -1e19F, 1e19F};

// Trainings so long that every observation is in some minibatch.
std::string often_trained(const std::string& spec) {
  std::string text = spec;
  Fields fields = find_recipe(agent_catalogue(), "agent", parse_spec(spec))->fields();
  for (const auto& [name, value] :
       {std::pair{"hidden", "6"}, {"batch", "64"}, {"train_every", "7"}, {"train_steps", "20"}}) {
    if (fields.has(name)) text += std::string(",") + name + "=" + value;
  }
  return text;
}

std::span<const float> parameters(const Agent& agent) {
  if (const auto* vi = dynamic_cast<const ViTs*>(&agent)) return vi->posterior().weights().mean;
  if (const auto* joint = dynamic_cast<const FeatureTs*>(&agent)) return joint->posterior().particles().row(0);
  return dynamic_cast<const PiTs&>(agent).posterior().particles().row(0);
}

class HugeContext : public testing::TestWithParam<std::string> {
 protected:
  static constexpr std::size_t taught = 14;  // two trainings; the next one is due after seven more

  static Bandit bandit() {
    Bandit made(often_trained(GetParam()), small_setup());
    for (const Event& e : random_events(taught, 5)) made.learn(e.x, e.action, e.reward);
    return made;
  }
  static std::vector<Action> decided(const Bandit& bandit) { return choices(bandit.agent(), 200); }
};

TEST_P(HugeContext, FailsTheTrainingAndLeavesTheDecisions) {
  Bandit hit = bandit();
  const std::vector<Action> before = decided(hit);
  hit.learn(huge, 1, 1.0F);
  EXPECT_EQ(decided(hit), before);  // nothing was trained yet
  bool failed = false;
  for (const Event& e : random_events(6, 6)) {
    try {
      hit.learn(e.x, e.action, e.reward);
    } catch (const Error& error) {
      failed = true;
      EXPECT_EQ(error.kind(), ErrorKind::failed);
      expect_mentions(error.what(), {"diverged", "step"});
    }
  }
  EXPECT_TRUE(failed);
  EXPECT_EQ(decided(hit), before);
  std::vector<float> p(action_count);
  hit.probabilities(x0, p);
  for (const float share : p) EXPECT_TRUE(share >= 0.0F && share <= 1.0F);
}

// The first parameter is overwritten behind the seal.
TEST_P(HugeContext, AFileWithParametersThatAreNotFiniteIsRefused) {
  const Bandit good = bandit();
  const std::string bytes = unsealed("bandit", good.saved(), "it");
  const std::span<const float> theta = parameters(good.agent());
  const std::string first(reinterpret_cast<const char*>(theta.data()), 4 * sizeof(float));
  const std::size_t at = bytes.rfind(first);
  ASSERT_NE(at, std::string::npos);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e20F}) {
    std::string forged = bytes;
    std::memcpy(forged.data() + at, &bad, sizeof bad);
    expect_mentions(message_of([&] { Bandit::from_saved(sealed("bandit", forged), "'x.pits'"); }),
                    {"'x.pits'", "parameters are not finite"});
  }
}

INSTANTIATE_TEST_SUITE_P(Agents, HugeContext,
                         testing::Values("pi-ts:released", "pi-ts:paper", "langevin", "feature-ts", "ensemble-sampling",
                                         "vi-ts"),
                         [](const auto& agent) { return plain_name(agent.param); });

TEST(Bandit, RefusesSizesThatNoMemoryHolds) {
  EXPECT_THROW(Bandit("pi-ts:released", {.context_size = std::size_t(-1), .actions = 3}), Error);
  EXPECT_THROW(Bandit("pi-ts:released", {.context_size = 3, .actions = std::size_t(-1)}), Error);
#ifndef PITS_SANITIZED  // whose allocator ends the program
  EXPECT_THROW(Bandit("lin-ts", {.context_size = std::size_t{1} << 30U, .actions = 3}), Error);
#endif
}

}  // namespace
}  // namespace pits::test
