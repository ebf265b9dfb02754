// Choosing among allowed actions: argmax, uniform draws, the floor.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "agent/stubborn.h"
#include "chi_square.h"
#include "pits/agent/context_free/uniform.h"
#include "pits/core/error.h"

namespace pits::test {
namespace {

TEST(BestAction, TiesGoToTheLowestIndex) {
  const std::vector<double> values = {1.0, 3.0, 3.0, 2.0, 3.0};
  EXPECT_EQ(best_action(values, {}), 1U);
  EXPECT_EQ(best_action(std::vector<double>(4, -7.0), {}), 0U);
  EXPECT_EQ(best_action(std::vector<float>{0.5F, 0.25F, 0.5F}, {}), 0U);
  const std::vector<std::uint8_t> mask = {1, 0, 1, 1, 1};
  EXPECT_EQ(best_action(values, {mask}), 2U);
}

RC_GTEST_PROP(BestAction, IsTheFirstAllowedOneThatNoAllowedOneBeats, ()) {
  const auto small = rc::gen::map(rc::gen::inRange(-3, 4), [](int x) { return 0.5F * static_cast<float>(x); });
  const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<float>>(small));
  const auto mask = *rc::gen::container<std::vector<std::uint8_t>>(values.size(), rc::gen::inRange<std::uint8_t>(0, 2));
  const ActionSet allowed{mask};
  if (allowed.count(values.size()) == 0) {
    RC_ASSERT_THROWS_AS(best_action(values, allowed), Error);
    return;
  }
  const Action best = best_action(values, allowed);
  RC_ASSERT(mask[best] == 1);
  for (Action a = 0; a < values.size(); ++a) {
    if (mask[a] != 0) RC_ASSERT((a < best ? values[a] < values[best] : values[a] <= values[best]));
  }
}

// Few different values, so that there are ties across the blocks of the fast way; NaN and the infinities among them.
TEST(BestAction, OfThousandsIsThatOfAPlainLoop) {
  Stream stream({.seed = 4, .purpose = Purpose::target_sample});
  const double odd[] = {std::nan(""), INFINITY, -INFINITY, -0.0};
  for (int n = 0; n < 2000; ++n) {
    std::vector<double> values(200 + stream.index(1500));
    const std::uint32_t different = 1 + stream.index(50);
    for (double& v : values) v = stream.index(different);
    for (std::uint32_t i = stream.index(4); i > 0; --i) {
      values[stream.index(static_cast<std::uint32_t>(values.size()))] = odd[stream.index(4)];
    }
    Action best = 0;
    for (Action a = 0; a < values.size(); ++a) {
      if (values[a] > values[best]) best = a;
    }
    EXPECT_EQ(best_action(values, {}), best);
    EXPECT_EQ(best_action(std::vector<float>(values.begin(), values.end()), {}), best);
  }
}

TEST(RandomAction, IsUniformOverTheAllowedActions) {
  const std::vector<std::uint8_t> mask = {1, 0, 1, 1, 0, 1};
  Stream stream({.seed = 9, .purpose = Purpose::decision});
  std::vector<double> counts(6, 0.0);
  for (int i = 0; i < 40000; ++i) counts[random_action(stream, {mask}, 6)] += 1.0;
  expect_frequencies(counts, {0.25, 0.0, 0.25, 0.25, 0.0, 0.25});
  EXPECT_THROW(random_action(stream, {std::vector<std::uint8_t>(6, 0)}, 6), Error);
}

// The larger of the agent's own floor, 0.5/(1 + 3·1) after a reward, and the caller's counts.
TEST(Floor, IsTheLargerOfTheAgentsAndTheCallers) {
  for (const auto& [callers, floor] : {std::pair{0.0, 0.125}, {0.1, 0.125}, {0.4, 0.4}}) {
    Stubborn agent({.initial_pulls = 0, .floor = 0.5, .floor_decay = 3.0},
                   {.context_size = 1, .actions = 4, .floor = callers});
    const Feedback event{.x = nowhere, .action = 0, .reward = 1.0F};
    agent.learn({&event, 1});
    std::vector<float> p(4);
    EXPECT_EQ(agent.propensities({.x = nowhere}, 1, p), 0.0);
    for (Action a = 0; a < 3; ++a) EXPECT_FLOAT_EQ(p[a], static_cast<float>(floor / 4.0));
    EXPECT_FLOAT_EQ(p[3], static_cast<float>(1.0 - 0.75 * floor));
    std::vector<double> counts(4, 0.0);
    for (DecisionId id = 0; id < 20000; ++id) {
      const Decision decision = agent.choose({.x = nowhere, .id = id, .want_propensity = true});
      ASSERT_EQ(decision.propensity, p[decision.action]);
      EXPECT_EQ(agent.choose({.x = nowhere, .id = id}).action, decision.action);
      counts[decision.action] += 1.0;
    }
    expect_frequencies(counts, {p.begin(), p.end()});
  }
  EXPECT_THROW(Stubborn({}, {.context_size = 1, .actions = 4, .floor = 1.5}), Error);
  EXPECT_THROW(Stubborn({.floor = -0.1}, {.context_size = 1, .actions = 4}), Error);
}

// Over many decisions, with and without a mask; the propensity is one over the number of allowed actions.
TEST(Uniform, PlaysEveryAllowedActionEquallyOften) {
  const Uniform agent({}, {.context_size = 1, .actions = 5, .seed = 3});
  const std::vector<float> x = {0.0F};
  const std::vector<std::uint8_t> mask = {0, 1, 1, 0, 1};
  std::vector<double> all(5, 0.0);
  std::vector<double> some(5, 0.0);
  for (DecisionId id = 0; id < 30000; ++id) {
    const Decision free = agent.choose({.x = x, .id = id, .want_propensity = true});
    const Decision masked = agent.choose({.x = x, .actions = {mask}, .id = id, .want_propensity = true});
    ASSERT_FLOAT_EQ(free.propensity.value(), 0.2F);
    ASSERT_FLOAT_EQ(masked.propensity.value(), 1.0F / 3.0F);
    all[free.action] += 1.0;
    some[masked.action] += 1.0;
  }
  expect_frequencies(all, std::vector<double>(5, 0.2));
  expect_frequencies(some, {0.0, 1.0 / 3, 1.0 / 3, 0.0, 1.0 / 3});
}

// Ids are 64 bits wide: the high half is part of the address.
TEST(DecisionStream, DiffersInEveryBitOfTheId) {
  const AgentSetup setup{.context_size = 1, .actions = 2, .seed = 3};
  const std::uint32_t base = decision_stream(setup, 12345, Purpose::decision).word();
  for (unsigned bit = 0; bit < 64; ++bit) {
    const DecisionId other = DecisionId{12345} ^ DecisionId { 1 } << bit;
    EXPECT_NE(decision_stream(setup, other, Purpose::decision).word(), base) << "bit " << bit;
  }
}

}  // namespace
}  // namespace pits::test
