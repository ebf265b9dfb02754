#include "pits/report/health_report.h"

#include <gtest/gtest.h>

#include "pits/report/run_report.h"
#include "report/page_data.h"

namespace pits {
namespace {

Plan plan_of(bool diagnostics) {
  return Plan({.agents = {"pi-ts:fast", "lin-ts"},
               .environments = {"linear", "wheel"},
               .steps = 100,
               .realizations = 4,
               .diagnostics = diagnostics});
}

HealthSummary health(std::size_t collapsed) {
  HealthSummary h{.particles = 4, .rounds = {10, 90}, .realizations = 4, .collapsed = collapsed};
  h.collapsed_since = collapsed > 0 ? 90 : 0;
  for (std::size_t k = 0; k < h.curves.size(); ++k) h.curves[k] = {.mean = {1.0, 0.125 * (k + 1.0)}, .se = {0.5, 0.25}};
  h.pit.fill(0.0);
  h.pit[0] = 0.25;
  h.pit[10] = 0.75;
  return h;
}

SummaryRow row(std::string agent, std::string env) {
  SummaryRow r{};
  r.agent = std::move(agent);
  r.environment = std::move(env);
  r.normalized_regret = {20.0, 2.0, 1.0, 20.0};
  r.seconds = 0.002;
  r.curve_rounds = {50, 100};
  return r;
}

// pi-ts:fast collapsed on linear and was not trained enough on the wheel; lin-ts has no particles.
std::vector<SummaryRow> four_rows() {
  std::vector<SummaryRow> rows = {row("pi-ts:fast", "linear"), row("lin-ts", "linear"), row("pi-ts:fast", "wheel"),
                                  row("lin-ts", "wheel")};
  rows[0].health = health(3);
  rows[2].health = HealthSummary{.particles = 4, .realizations = 4};
  return rows;
}

TEST(HealthText, ShowsTheLastTrainingWarningsAndWhoIsLeftOut) {
  const std::string expected =
      "\n"
      "particles of  problem  round  disagreement  spread  repulsion/drive  effective number  50 % covers  90 % "
      "covers\n"
      "pi-ts:fast     linear     90         0.125    0.25              0.5          0.6 of 4       75.0 %       75.0 "
      "%\n"
      "\n"
      "After that round's training, mean over realizations: share of contexts on which two particles disagree; their "
      "spread in standard deviations\nof the reward. Over the run: share of rewards within the central 50 and 90 % of "
      "what was predicted.\n"
      "warning: pi-ts:fast on linear: the particles have collapsed in 3 of 4 realizations, from round 90 on; they "
      "differ by less than if there were one number an action to learn\n"
      "No particles to look at: lin-ts\n"
      "Too few trainings to look at: pi-ts:fast\n";
  EXPECT_EQ(health_text(plan_of(true), four_rows()), expected);
}

TEST(HealthText, SaysNothingWhereNobodyAsked) {
  EXPECT_EQ(health_text(plan_of(false), four_rows()), "");
  const Plan plan = plan_of(false);
  EXPECT_EQ(run_text(plan, four_rows(), false), regret_table(plan, four_rows(), false));
}

TEST(HealthText, IsPartOfThePage) {
  const auto data = test::page_data(run_page(plan_of(true), four_rows(), {}));
  const auto& shown = data["summary"][0]["health"];
  EXPECT_EQ(shown["rounds"], (std::vector<int>{10, 90}));
  EXPECT_EQ(shown["spread"], (std::vector<double>{1.0, 0.25}));
  EXPECT_EQ(shown["spread_se"], (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(shown["collapsed"], 3);
  EXPECT_EQ(shown["pit"].size(), 20U);
  EXPECT_FALSE(data["summary"][1].contains("health"));
}

TEST(CostTable, HasRegretBesideTimeForEveryPair) {
  auto rows = four_rows();
  rows[2].curve_rounds = {5, 10};  // ended early
  rows[3].seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(as_csv(cost_table(plan_of(false), rows)),
            "agent,environment,cpu_us_per_round,normalized_regret_mean,normalized_regret_se,realizations,rounds\n"
            "pi-ts:fast,linear,5,20,1,4,100\n"
            "lin-ts,linear,5,20,1,4,100\n"
            "pi-ts:fast,wheel,50,20,1,4,10\n"
            "lin-ts,wheel,,20,1,4,100\n");
}

}  // namespace
}  // namespace pits
