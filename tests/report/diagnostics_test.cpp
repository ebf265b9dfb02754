// What diagnostics add to the terminal and to the page; and the table of costs.
#include <gtest/gtest.h>

#include <limits>

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

nlohmann::ordered_json health(std::size_t collapsed) {
  nlohmann::ordered_json h = {{"particles", 4}, {"rounds", {10, 90}}};
  double last = 0.0;
  for (const char* name :
       {"disagreement", "spread", "collapse_line", "repulsion", "effective", "covered50", "covered90"}) {
    h[name] = {1.0, last += 0.125};
    h[name + std::string("_se")] = {0.5, 0.25};
  }
  std::vector<double> pit(20);
  pit[0] = 0.25;
  pit[10] = 0.75;
  h.update({{"pit", pit}, {"collapsed", collapsed}, {"collapsed_since", collapsed > 0 ? 90 : 0}});
  return {{"health", h}};
}

SummaryRow row(std::string agent, std::string env) {
  SummaryRow r{};
  r.agent = std::move(agent);
  r.environment = std::move(env);
  r.normalized_regret = {20.0, 2.0, 1.0, 20.0};
  r.seconds = 0.002;
  r.finals = {19.0, 20.0, 20.0, 21.0};
  r.curve_rounds = {50, 100};
  return r;
}

// pi-ts:fast collapsed on linear and was not trained enough on the wheel; lin-ts has no particles.
std::vector<SummaryRow> four_rows() {
  std::vector<SummaryRow> rows = {row("pi-ts:fast", "linear"), row("lin-ts", "linear"), row("pi-ts:fast", "wheel"),
                                  row("lin-ts", "wheel")};
  rows[0].observed = health(3);
  rows[2].observed = health(0);
  rows[2].observed["health"]["rounds"] = nlohmann::ordered_json::array();
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
      "differ by less than if there were one number per action to learn\n"
      "No particles to look at: lin-ts\n"
      "Too few trainings to look at: pi-ts:fast\n";
  const Plan plan = plan_of(true);
  EXPECT_EQ(run_text(plan, four_rows(), false), regret_table(plan, four_rows(), false) + expected);
}

TEST(HealthText, SaysNothingWhereNobodyAsked) {
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
