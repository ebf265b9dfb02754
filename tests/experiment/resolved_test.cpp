// A run directory's config gives the same experiment again.
#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "experiment/trajectories.h"
#include "pits/experiment/run_cell.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

const char* const tiny_pi_ts = "pi-ts,particles=3,hidden=4,batch=8,train_every=10,train_steps=2";

void expect_round_trip(const ExperimentConfig& config) {
  const Plan plan(config);
  const Json stored = Json::parse(plan.resolved().dump(2));
  const Plan again = Plan::from_resolved(stored);
  EXPECT_EQ(again.resolved().dump(), plan.resolved().dump());
  ASSERT_EQ(again.cells(), plan.cells());
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    test::expect_same(run_cell(again, again.cell(i), test::no_report), run_cell(plan, plan.cell(i), test::no_report));
  }
}

TEST(Resolved, GivesTheSameRunAgain) {
  expect_round_trip({.agents = {"lin-ts", "uniform", "gaussian-ts", tiny_pi_ts},
                     .environments = {"linear", "wheel,delta=0.9"},
                     .steps = 60,
                     .realizations = 2,
                     .seed = 77});
}

TEST(Resolved, RemembersWhatSetChanged) {
  ExperimentConfig config{.agents = {tiny_pi_ts, "lin-ts"}, .environments = {"linear"}, .steps = 60, .realizations = 1};
  const std::string before = Plan(config).resolved().dump();
  config.set = {"pi-ts.step=0.0333333333333333", "lin-ts.lambda=0.1"};
  config.set_env = {"noise_level=0.7", "dimension=3", "mean=1,2,3"};
  EXPECT_NE(Plan(config).resolved().dump(), before);
  expect_round_trip(config);
}

TEST(Resolved, FitsEvenWhereTheLabelAloneDoesNot) {
  expect_round_trip({.agents = {std::string(tiny_pi_ts) + ",flow=spos"},
                     .environments = {"linear,mean=1x2"},
                     .steps = 30,
                     .realizations = 1,
                     .set = {"pi-ts.optimizer=sgd", "pi-ts.step=1e-7"},
                     .set_env = {"dimension=2"}});
}

TEST(Resolved, OfALargeSeedKeepsEveryDigit) {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  expect_round_trip(
      {.agents = {"uniform"}, .environments = {"wheel"}, .steps = 10, .realizations = 1, .seed = largest});
}

// Run directories of before there was a choice have no such key, and stay valid.
TEST(Resolved, NamesTheFeedbackWhereItIsNotThatOfABandit) {
  ExperimentConfig config{.agents = {"lin-ts", tiny_pi_ts},
                          .environments = {"linear", "wheel"},
                          .steps = 40,
                          .realizations = 2,
                          .feedback = FeedbackKind::played};
  EXPECT_FALSE(Plan(config).resolved().contains("feedback"));
  config.feedback = FeedbackKind::all;
  EXPECT_EQ(Plan(config).resolved().at("feedback"), "all");
  expect_round_trip(config);
}

TEST(Resolved, ThatIsNoneIsAnError) {
  const Json good = Plan({.agents = {"uniform"}, .environments = {"wheel"}}).resolved();
  const auto error_of = [](const Json& j) { return test::message_of([&] { Plan::from_resolved(j); }); };
  for (const char* text : {"null", "[]", "{}", "3", R"({"agents": 3})"}) {
    test::expect_mentions(error_of(Json::parse(text)), {"not the config of a run"});
  }
  for (const char* key : {"seed", "steps", "realizations", "agents", "environments"}) {
    Json without = good;
    without.erase(key);
    test::expect_mentions(error_of(without), {key});
  }
  Json unknown = good;
  unknown["environments"][0]["fields"]["delt"] = "1";
  test::expect_mentions(error_of(unknown), {"'delt'", "did you mean 'delta'"});
  Json other_feedback = good;
  other_feedback["feedback"] = "none";
  test::expect_mentions(error_of(other_feedback), {"feedback", "'none'", "played, all"});
  other_feedback["feedback"] = true;
  test::expect_mentions(error_of(other_feedback), {"not the config of a run"});
  Json wrong_type = good;
  wrong_type["environments"][0]["fields"]["delta"] = 0.5;
  test::expect_mentions(error_of(wrong_type), {"not the config of a run"});
}

}  // namespace
}  // namespace pits
