#include "pits/report/run_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "pits/version.h"
#include "report/page_data.h"

namespace pits {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

SummaryRow row(std::string agent, std::string env, double mean, double se, double seconds) {
  return {.agent = std::move(agent),
          .environment = std::move(env),
          .normalized_regret = {mean, 2 * se, se, mean - 1},
          .regret = {10 * mean, 20 * se, 10 * se, mean},
          .seconds = seconds,
          .finals = {mean - 1, mean + 1},
          .curve_rounds = {50, 100},
          .curve_mean = {1.0, 2.0},
          .curve_std = {0.5, nan},
          .pulls = {60.0, 40.0}};
}

Plan plan_of(std::int64_t realizations = 4, FeedbackKind feedback = FeedbackKind::played) {
  return Plan({.agents = {"lin-ts", "uniform"},
               .environments = {"linear", "wheel,delta=0.95"},
               .steps = 100,
               .realizations = realizations,
               .seed = 3,
               .feedback = feedback});
}

const std::vector<SummaryRow> four_rows = {
    row("lin-ts", "linear", 7.125, 0.5, 0.002), row("uniform", "linear", 100.0, 10.25, 0.0004),
    row("lin-ts", "wheel,delta=0.95", 55.5, 1.0, 0.002), row("uniform", "wheel,delta=0.95", 50.25, 1.5, 0.0004)};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(RegretTable, ShowsMeanAndErrorInAlignedColumns) {
  const std::string expected =
      "agent            linear  wheel,delta=0.95  µs/round\n"
      "lin-ts      7.12 ± 0.50      55.50 ± 1.00       5.0\n"
      "uniform  100.00 ± 10.25      50.25 ± 1.50       1.0\n"
      "\n"
      "Normalised regret, mean ± standard error over 4 realizations of 100 rounds, seed 3; uniform play is 100, lower "
      "is better.\n";
  EXPECT_EQ(regret_table(plan_of(), four_rows, false), expected);
}

TEST(RegretTable, MarksTheBestOfAColumnOnlyInColour) {
  const std::string plain = regret_table(plan_of(), four_rows, false);
  std::string coloured = regret_table(plan_of(), four_rows, true);
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  const auto lines = lines_of(coloured);
  EXPECT_NE(lines.at(1).find("\033[1m   7.12 ± 0.50\033[0m"), std::string::npos) << coloured;
  EXPECT_EQ(lines.at(1).find("\033[1m     55.50"), std::string::npos) << coloured;
  EXPECT_NE(lines.at(2).find("50.25 ± 1.50\033[0m"), std::string::npos) << coloured;
  for (const std::string code : {"\033[1m", "\033[0m"}) {
    std::size_t found = 0;
    for (std::size_t at = coloured.find(code); at != std::string::npos; at = coloured.find(code), ++found) {
      coloured.erase(at, code.size());
    }
    EXPECT_EQ(found, 2U) << "one best in each of two columns";
  }
  EXPECT_EQ(coloured, plain) << "colour moves no column";
}

TEST(RegretTable, OfOneRealizationHasNoError) {
  auto rows = four_rows;
  for (SummaryRow& r : rows) r.normalized_regret.se = nan;
  const auto lines = lines_of(regret_table(plan_of(1), rows, false));
  EXPECT_EQ(lines.at(1), "lin-ts     7.12             55.50      20.0");
  EXPECT_NE(lines.at(4).find("over 1 realization of 100 rounds"), std::string::npos);
}

TEST(RegretTable, WhereNothingCanBeLostShowsADashAndNoBest) {
  auto rows = four_rows;
  rows[0].normalized_regret = {nan, nan, nan, nan};
  const auto lines = lines_of(regret_table(plan_of(), rows, true));
  EXPECT_EQ(lines.at(1).find("nan"), std::string::npos) << lines.at(1);
  EXPECT_NE(lines.at(1).find(" -  "), std::string::npos) << lines.at(1);
  EXPECT_NE(lines.at(2).find("\033[1m100.00"), std::string::npos) << "a number is better than none";
}

TEST(RegretTable, CostIsOverTheRoundsThatWerePlayed) {
  auto rows = four_rows;
  for (SummaryRow& r : rows) r.curve_rounds = {5, 10};  // both problems ended after 10 of 100 rounds
  EXPECT_TRUE(lines_of(regret_table(plan_of(), rows, false)).at(1).ends_with(" 50.0"));
  EXPECT_TRUE(regret_table(plan_of(), rows, false).ends_with("\nwheel,delta=0.95: ends after 10 rounds\n"));
  rows[2].seconds = nan;
  EXPECT_TRUE(lines_of(regret_table(plan_of(), rows, false)).at(1).ends_with(" -"));
}

TEST(RegretTable, SaysBelowWhatTheDataIs) {
  auto resolved = plan_of().resolved();
  resolved["environments"][1]["remark"] = "first 15,317 of 2,458,285 rows";
  const std::string plain = regret_table(plan_of(), four_rows, false);
  const Plan plan = Plan::from_resolved(resolved);
  EXPECT_EQ(regret_table(plan, four_rows, false), plain + "wheel,delta=0.95: first 15,317 of 2,458,285 rows\n");
  const auto data = test::page_data(run_page(plan, four_rows, {}));
  EXPECT_EQ(data["summary"][2]["remark"], "first 15,317 of 2,458,285 rows");
  EXPECT_FALSE(data["summary"][0].contains("remark"));
}

TEST(RegretTable, AndPageSayWhereInformationIsFull) {
  const Plan full = plan_of(4, FeedbackKind::all);
  const auto lines = lines_of(regret_table(full, four_rows, false));
  EXPECT_TRUE(lines.at(4).starts_with("Normalised regret under full information, mean ±")) << lines.at(4);
  EXPECT_EQ(lines.at(5), "Full information: after every round agents learned the rewards of all actions.");
  const auto data = test::page_data(run_page(full, four_rows, {}));
  EXPECT_EQ(data["title"], "Regret of linear, wheel,delta=0.95 under full information");
  EXPECT_EQ(data["feedback"], "all");
  EXPECT_EQ(data["summary"][0]["feedback"], "all");
  const auto bandit = test::page_data(run_page(plan_of(), four_rows, {}));
  EXPECT_EQ(bandit["title"], "Regret of linear, wheel,delta=0.95");
  EXPECT_FALSE(bandit.contains("feedback"));
  EXPECT_FALSE(bandit["summary"][0].contains("feedback"));
}

TEST(RunPage, HasTheKeysOfTheContract) {
  const auto data = test::page_data(run_page(plan_of(), four_rows, {.command = "pits run", .machine = "a machine"}));
  EXPECT_EQ(data["kind"], "run");
  EXPECT_NE(data["title"].get<std::string>().find("linear, wheel,delta=0.95"), std::string::npos);
  EXPECT_EQ(data["command"], "pits run");
  EXPECT_EQ(data["machine"], "a machine");
  EXPECT_EQ(data["version"], version);
  EXPECT_EQ(data["seed"], 3);
  EXPECT_EQ(data["steps"], 100);
  EXPECT_EQ(data["realizations"], 4);
  EXPECT_EQ(data["agents"], (std::vector<std::string>{"lin-ts", "uniform"}));
  EXPECT_EQ(data["environments"], (std::vector<std::string>{"linear", "wheel,delta=0.95"}));
  for (const char* list : {"summary", "curves", "finals", "pulls"}) {
    ASSERT_EQ(data[list].size(), 4U) << list;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(data[list][i]["agent"], four_rows[i].agent);
      EXPECT_EQ(data[list][i]["env"], four_rows[i].environment);
    }
  }
}

TEST(RunPage, HoldsTheNumbersOfTheRows) {
  auto rows = four_rows;
  rows[1].seconds = nan;
  const auto data = test::page_data(run_page(plan_of(), rows, {}));
  const auto& summary = data["summary"][0];
  test::expect_keys(summary["normalized_regret"], {"mean", "std", "se", "median"});
  test::expect_keys(summary["regret"], {"mean", "std", "se"});
  EXPECT_EQ(summary["normalized_regret"]["mean"], 7.125);
  EXPECT_EQ(summary["normalized_regret"]["median"], 6.125);
  EXPECT_EQ(summary["regret"]["se"], 5.0);
  EXPECT_EQ(summary["seconds"], 0.002);
  EXPECT_TRUE(data["summary"][1]["seconds"].is_null());
  EXPECT_EQ(data["curves"][0]["t"], (std::vector<int>{50, 100}));
  EXPECT_EQ(data["curves"][0]["mean"], (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(data["curves"][0]["std"].dump(), "[0.5,null]");
  EXPECT_EQ(data["finals"][3]["values"], (std::vector<double>{49.25, 51.25}));
  EXPECT_EQ(data["pulls"][0]["counts"], (std::vector<double>{60.0, 40.0}));
}

}  // namespace
}  // namespace pits
