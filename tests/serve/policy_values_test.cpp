// What other policies would have earned, against the evaluation of the whole log, published numbers and by hand.
#include "pits/serve/policy_values.h"

#include <gtest/gtest.h>

#include "experiment/scratch.h"
#include "pits/evaluate/evaluation.h"
#include "pits/evaluate/read/read_log.h"
#include "pits/log/sqlite_store.h"
#include "pits/serve/monitor.h"
#include "serve/log_script.h"

namespace pits {
namespace {

using nlohmann::json;
using namespace test;

json values_of(const Store& store) {
  Monitor monitor(store, 0);
  monitor.follow(store.last(), 1'000'000);
  return monitor.statistics()["values"];
}

// The evaluation reads the whole log into memory and judges it by other code.
TEST(PolicyValues, ValuesAreThoseOfTheEvaluation) {
  const test::Scratch scratch;
  const auto directory = scratch.path() / "shop";
  MemoryStore played;
  Script script(played, {.window = 600.0, .reward_range = log_reward_range("0,1")});
  play(script, 3000, 0.1);
  for (const TimedDecision& one : decisions_of(played)) {
    if (!one.settled) script.settle(one.decided.id, 0.0F, SettleReason::expired);
  }
  script.commit();
  GroupWriter group;  // all events in one: a single wait for the disk
  for (const Event& event : events_of(played)) std::visit([&](const auto& one) { group.add(one); }, event);
  SqliteStore(directory).commit({.first = 1, .group = group.finish({})});
  const SqliteStore store(directory, Access::read);
  const FakeClock clock;
  Monitor monitor(store, 0, {}, clock);
  monitor.follow(store.last(), 1'000'000);
  const json values = monitor.statistics()["values"];

  const LoggedData data = read_log(directory);
  const Evaluation expected = evaluate(data, {.policies = {"uniform", "fixed:a0", "fixed:a1", "fixed:a2", "fixed:late"},
                                              .reward_range = RewardRange{.low = 0.0, .high = 1.0},
                                              .model = "none"});
  EXPECT_EQ(values["rounds"], data.rounds());
  EXPECT_NEAR(values["logged"]["ips"], expected.logged.value, 1e-12);
  EXPECT_NEAR(values["logged"]["error"], expected.logged.error, 1e-12);
  EXPECT_NEAR(values["logged"]["interval"][0], expected.logged_sequence->low, 1e-9);
  const auto compare = [](const json& found, const JudgedResult& result) {
    EXPECT_NEAR(found["ips"], result.find(EstimatorKind::ips)->value, 1e-9) << result.policy;
    EXPECT_NEAR(found["error"], result.find(EstimatorKind::ips)->error, 1e-9) << result.policy;
    EXPECT_NEAR(found["snips"], result.find(EstimatorKind::snips)->value, 1e-9) << result.policy;
    EXPECT_NEAR(found["effective"], result.weights.effective_rounds, 1e-6) << result.policy;
    EXPECT_NEAR(found["interval"][0], result.sequence->low, 1e-9) << result.policy;
    EXPECT_NEAR(found["interval"][1], result.sequence->high, 1e-9) << result.policy;
  };
  compare(values["uniform"], expected.policies[0]);
  for (std::size_t a = 0; a < 4; ++a) compare(values["actions"][a], expected.policies[a + 1]);
}

// Published: VW's and OBP's numbers for these rounds, π = (.2 .3 .5).
TEST(PolicyValues, SumsOfAPolicyGivePublishedValues) {
  const std::string rounds = "0010002000100000211000110021011101210111";
  const double p[] = {.5, .3, .2}, pi[] = {.2, .3, .5};
  PolicySums sums;
  sums.sequence.emplace(RewardRange{.low = 0.0, .high = 1.0});
  for (int i = 0; i < 200; ++i) {
    const int a = rounds[2 * (i % 20)] - '0', r = rounds[2 * (i % 20) + 1] - '0';
    sums.add(pi[a] / p[a], r);
  }
  const json found = sums.json(200);
  EXPECT_NEAR(found["ips"], .585, 1e-12);
  EXPECT_NEAR(found["snips"], .585, 1e-12);
  EXPECT_NEAR(found["error"], .062175, 1e-6);
  EXPECT_NEAR(sums.sequence->interval(0.95).low, .350301, 1e-6);
  EXPECT_NEAR(sums.sequence->interval(0.95).high, .744101, 1e-6);
}

// The same rounds, through a log: each fixed action earns Σ r [a] / (n p).
TEST(PolicyValues, FixedActionsByHand) {
  MemoryStore store;
  Script script(store);
  const std::string rounds = "0010002000100000211000110021011101210111";
  for (DecisionId id = 1; id <= 20; ++id) {
    script.decide(id, static_cast<Action>(rounds[2 * id - 2] - '0'), {.5F, .25F, .25F});
    script.settle(id, static_cast<float>(rounds[2 * id - 1] - '0'));
  }
  script.commit();
  const json values = values_of(store);
  EXPECT_NEAR(values["actions"][0]["ips"], 3 / (20 * .5), 1e-12);
  EXPECT_NEAR(values["actions"][1]["ips"], 3 / (20 * .25), 1e-12);
  EXPECT_NEAR(values["actions"][2]["ips"], 3 / (20 * .25), 1e-12);
  EXPECT_NEAR(values["uniform"]["ips"], (3 / .5 + 3 / .25 + 3 / .25) / 3 / 20, 1e-12);
  EXPECT_TRUE(values["uniform"]["interval"].is_null());  // no range
  EXPECT_TRUE(values["range"].is_null());
}

TEST(PolicyValues, AClickIsNotCountedBeforeTheSilenceBesideIt) {
  for (const double window : {600.0, 0.0}) {
    MemoryStore store;
    Script script(store, {.rewards = RewardRule::first, .window = window});
    for (DecisionId id = 1; id <= 100; ++id) script.decide(id, id % 2, {.5F, .5F});
    for (DecisionId id = 1; id <= 100; id += 2) script.settle(id, 1.0F);
    script.commit();
    EXPECT_EQ(values_of(store)["rounds"], window > 0.0 ? 1 : 50);  // decision 2 waits
    script.pass(600.0);
    for (DecisionId id = 2; id <= 100; id += 2) script.settle(id, 0.0F, SettleReason::expired);
    script.commit();
    const json values = values_of(store);
    EXPECT_EQ(values["rounds"], 100);
    EXPECT_DOUBLE_EQ(values["logged"]["ips"], 0.5);
  }
}

TEST(PolicyValues, AWindowThatIsTakenAwayLetsOutcomesCount) {
  MemoryStore store;
  Script script(store, {.window = 600.0});
  script.decide(1, 0, {.5F, .5F, 0.0F});
  script.decide(2, 1, {.5F, .5F, 0.0F});
  script.settle(2, 1.0F);
  script.group.add(ConfigChanged{.config = as_text(LiveConfig{.rewards = RewardRule::first, .window = 0.0})});
  script.commit();
  EXPECT_EQ(values_of(store)["rounds"], 1);
  script.settle(1, 0.0F);
  script.commit();
  EXPECT_EQ(values_of(store)["rounds"], 2);
}

TEST(PolicyValues, CertainDecisionsAtTheStartAreLeftOut) {
  MemoryStore store;
  Script script(store);
  for (DecisionId id = 1; id <= 3; ++id) {
    std::vector<float> p(3);
    p[id - 1] = 1.0F;
    script.decide(id, static_cast<Action>(id - 1), p);
    script.settle(id, 1.0F);
  }
  script.decide(4, 0, {.6F, .2F, .2F});
  script.settle(4, 0.5F);
  script.commit();
  const json values = values_of(store);
  EXPECT_EQ(values["left_out"], 3);
  EXPECT_EQ(values["rounds"], 1);
  EXPECT_DOUBLE_EQ(values["logged"]["ips"], 0.5);
}

TEST(PolicyValues, ARewardOutsideOfTheRangeTakesTheIntervalsAway) {
  MemoryStore store;
  Script script(store, {.reward_range = log_reward_range("0,0.1")});
  for (DecisionId id = 1; id <= 50; ++id) script.decide(id, 0, {.5F, .3F, .2F}), script.settle(id, 0.1F);
  script.commit();
  Monitor monitor(store, 0);
  monitor.follow(store.last(), 1000);
  EXPECT_EQ(monitor.statistics()["values"]["logged"]["interval"].size(), 2U);
  script.decide(51, 0, {.5F, .3F, .2F}), script.settle(51, 2.0F);
  script.commit();
  monitor.follow(store.last(), 1000);
  EXPECT_EQ(monitor.statistics()["values"]["outside"], 1);
  EXPECT_TRUE(monitor.statistics()["values"]["logged"]["interval"].is_null());
}

TEST(PolicyValues, AreJudgedAnewWhereTheRangeChanges) {
  MemoryStore store;
  Script script(store);
  script.decide(1, 0, {.5F, .3F, .2F}), script.settle(1, 1.0F);
  script.group.add(ConfigChanged{.config = as_text(LiveConfig{.reward_range = log_reward_range("0,5")})});
  for (DecisionId id = 2; id <= 4; ++id) script.decide(id, 0, {.5F, .3F, .2F}), script.settle(id, 5.0F);
  script.group.add(ConfigChanged{
      .config = as_text(LiveConfig{.window = 60.0, .reward_range = log_reward_range("0,5")})});  // the same
  script.commit();
  const json values = values_of(store);
  EXPECT_EQ(values["rounds"], 3);
  EXPECT_EQ(values["range"], json({0.0, 5.0}));
  EXPECT_DOUBLE_EQ(values["logged"]["ips"], 5.0);
  EXPECT_FALSE(values["logged"]["interval"].is_null());
}

}  // namespace
}  // namespace pits
