#include "pits/report/reproduction_report.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "experiment/scratch.h"
#include "report/page_data.h"

namespace pits::test {
namespace {

using Json = nlohmann::ordered_json;

// A finished run that was never run: from_resolved needs no data.
Json resolved(const std::vector<std::string>& agents, const std::vector<Json>& environments) {
  Json json = {
      {"seed", 0}, {"steps", 2000}, {"realizations", 4}, {"agents", Json::array()}, {"environments", environments}};
  for (const std::string& agent : agents) json["agents"].push_back({{"label", agent}, {"fields", Json::object()}});
  return json;
}

Json environment(const std::string& label, int contexts, int actions, const std::string& remark = "") {
  return {
      {"label", label}, {"fields", Json::object()}, {"contexts", contexts}, {"actions", actions}, {"remark", remark}};
}

SummaryRow row(const std::string& agent, const std::string& env, double mean, double se) {
  return {.agent = agent,
          .environment = env,
          .normalized_regret = {mean, 2 * se, se, mean - 1},
          .regret = {10 * mean, 20 * se, 10 * se, mean},
          .seconds = 1.0,
          .finals = {mean, mean, mean, mean},
          .curve_rounds = {1000, 2000},
          .curve_mean = {1.0, 2.0},
          .curve_std = {0.5, 0.5},
          .pulls = {60.0, 40.0}};
}

class ReproductionReport : public testing::Test {
 protected:
  ReproductionReport()
      : plan_(Plan::from_resolved(resolved({"lin-ts", "neural-linear:showdown-reset"},
                                           {environment("statlog", 9, 7), environment("census", 385, 9, "a part")}))) {
    Section section{.id = "benchmark",
                    .title = "Data",
                    .text = "",
                    .agents = {{.spec = "lin-ts", .label = "Lin-TS"},
                               {.spec = "neural-linear:showdown-reset", .label = "NL", .variant_of = "neural-linear"}},
                    .environments = {{.spec = "statlog", .label = "Statlog"}, {.spec = "census", .label = "Census"}},
                    .figures = {"table", "box", "curves"}};
    r_.sections.push_back(
        {.section = section,
         .plan = {&plan_, [](const Plan*) {}},
         .rows = {row("lin-ts", "statlog", 18.12, 0.25), row("neural-linear:showdown-reset", "statlog", 12.0, 0.5),
                  row("lin-ts", "census", 95.54, 0.5), row("neural-linear:showdown-reset", "census", 80.0, 0.5)}});
    r_.missing = {{.section = "benchmark", .environment = "adult", .reason = "not here"}};
    r_.origin = {.command = "pits reproduce", .machine = "test"};
  }

  Plan plan_;
  Reproduction r_;
};

TEST_F(ReproductionReport, TableOneSetsThePapersFiguresBesideOurs) {
  const TextTable table = problems_table(r_);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"Statlog", "9", "16", "7", "7",
                                                     "the paper adds the 7 classes to the 9 attributes"}));
  EXPECT_EQ(table.rows[1],
            (std::vector<std::string>{"Census", "385", "389", "9", "9",
                                      "a part; 389 in the whole file; levels that a subset lacks have no column"}));
}

// 18.12 − 18.62 = −0.5, two standard errors of 0.25; 95.54 − 94.54 = 1, two of 0.5.
TEST_F(ReproductionReport, TableTwoHasDifferencesInStandardErrorsAndRemarks) {
  EXPECT_EQ(as_text(regret_comparison(r_)),
            "Method                               Statlog               Census\n"
            "Lin-TS             ours  18.12 ± 0.50 (0.25)  95.54 ± 1.00 (0.50)\n"
            "                  paper         18.62 ± 0.02         94.54 ± 0.28\n"
            "        difference / se                 -2.0                  2.0\n"
            "NL                 ours  12.00 ± 1.00 (0.50)  80.00 ± 1.00 (0.50)\n"
            "                  paper         13.96 ± 0.03         79.15 ± 0.32\n"
            "        difference / se                 -3.9                  1.7\n"
            "\n"
            "Normalised regret, mean ± standard deviation (standard error) over 4 realizations of 2000 rounds, seed 0; "
            "uniform play is 100.\n"
            "Census: a part.\n"
            "With so few realizations the standard errors are rough themselves.\n");
  const Json cells = comparison_json(r_)["cells"];
  EXPECT_DOUBLE_EQ(cells[0]["difference_se"].get<double>(), (18.12 - 18.62) / 0.25);
  EXPECT_EQ(cells[1]["paper_mean"], 13.96);  // a variant is held against the method it varies
}

TEST_F(ReproductionReport, AnAgentThatThePaperDoesNotHaveIsOneRow) {
  r_.sections[0].section.agents[1] = {.spec = "neural-linear:showdown-reset", .label = "Ours"};
  const TextTable table = regret_comparison(r_);
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[3], (std::vector<std::string>{"Ours", "ours", "12.00 ± 1.00 (0.50)", "80.00 ± 1.00 (0.50)"}));
  EXPECT_TRUE(comparison_json(r_)["cells"][1]["paper_mean"].is_null());
}

// 18.618 − 18.62 = −0.002, a hundredth of a standard error: nothing, and not less than nothing.
TEST_F(ReproductionReport, ADifferenceThatRoundsToNothingHasNoSign) {
  r_.sections[0].rows[0] = row("lin-ts", "statlog", 18.618, 0.2);
  const TextTable table = regret_comparison(r_);
  EXPECT_EQ(table.rows[2], (std::vector<std::string>{"", "difference / se", "0.0", "2.0"}));
}

// Issue of every table: a part of the data is named in each format.
TEST_F(ReproductionReport, EveryFormatOfEveryTableNamesThePart) {
  for (const TextTable& table : {problems_table(r_), regret_comparison(r_), section_table(r_.sections[0], true)}) {
    for (const auto& format : {as_text, as_markdown, as_latex, as_csv}) {
      EXPECT_NE(format(table).find("a part"), std::string::npos) << format(table);
    }
  }
}

TEST_F(ReproductionReport, OtherRoundsAreNotCompared) {
  Json other = resolved({"lin-ts", "neural-linear:showdown-reset"},
                        {environment("statlog", 9, 7), environment("census", 385, 9)});
  other["steps"] = 300;
  const Plan plan = Plan::from_resolved(other);
  r_.sections[0].plan = {&plan, [](const Plan*) {}};
  const Json table = comparison_json(r_);
  EXPECT_EQ(table["comparable"], false);
  EXPECT_TRUE(table["cells"][0]["difference_se"].is_null());
  EXPECT_EQ(table["cells"][0]["paper_mean"], 18.62);
  EXPECT_NE(as_text(regret_comparison(r_)).find("not comparable"), std::string::npos);
}

TEST_F(ReproductionReport, PageDataFollowsTheContract) {
  const Json data = reproduction_data(r_);
  expect_keys(data, {"kind", "title", "command", "machine", "version", "seed", "steps", "realizations", "missing",
                     "problems", "table", "sections", "posterior"});
  EXPECT_EQ(data["kind"], "reproduce");
  EXPECT_EQ(data["problems"].size(), 6U);
  EXPECT_EQ(data["problems"][0]["contexts"], 9);
  EXPECT_TRUE(data["problems"][1]["contexts"].is_null());  // adult's data is not here
  EXPECT_EQ(data["missing"][0]["reason"], "not here");
  EXPECT_EQ(data["table"]["environments"][1]["remark"], "a part");
  EXPECT_EQ(data["table"]["agents"][1]["variant_of"], "neural-linear");
  expect_keys(data["sections"][0], {"id", "title", "text", "labels", "x", "env_x", "steps", "realizations", "agents",
                                    "environments", "summary", "curves", "finals", "pulls"});
  EXPECT_TRUE(data["posterior"].is_null());
}

TEST_F(ReproductionReport, TableIsLeftOutWhereItWasNotAskedFor) {
  r_.sections[0].section.figures = {"box"};
  EXPECT_TRUE(reproduction_data(r_)["table"].is_null());
}

TEST_F(ReproductionReport, AxesPlaceAgentsAndEnvironments) {
  r_.sections[0].section.agent_axis = "particles M";
  r_.sections[0].section.agents[0].place = 5.0;
  const Json section = reproduction_data(r_)["sections"][0];
  EXPECT_EQ(section["x"], (Json{{"name", "particles M"}, {"values", {{"lin-ts", 5.0}}}}));
  EXPECT_TRUE(section["env_x"].is_null());
}

TEST_F(ReproductionReport, PosteriorShowsReadingsAndFloor) {
  SectionResult& result = r_.sections[0];
  result.section.id = "posterior";
  for (SummaryRow& row : result.rows) {
    row.observed = {{"posterior_rounds", {20, 2000}},
                    {"posterior_w2", {0.5, 0.5}},
                    {"posterior_w2_se", {0.1, 0.1}},
                    {"posterior_floor", {0.25, 0.25}}};
  }
  const Json posterior = reproduction_data(r_)["posterior"];
  EXPECT_EQ(posterior["dimension"], 9);
  EXPECT_EQ(posterior["rounds"], (Json{20, 2000}));
  ASSERT_EQ(posterior["series"].size(), 2U);
  EXPECT_EQ(posterior["series"][0]["mean"], (Json{0.5, 0.5}));
  EXPECT_EQ(posterior["floor"]["mean"], (Json{0.25, 0.25}));
  const TextTable table = posterior_table(result);
  EXPECT_EQ(table.header, (std::vector<std::string>{"W2 after round", "20", "2000"}));
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"  floor on its rounds", "0.2500", "0.2500"}));
}

TEST_F(ReproductionReport, WritesEveryTableInEveryFormatAndThePage) {
  const Scratch scratch;
  write_reproduction(scratch.path(), r_);
  const auto names = names_in(scratch / "tables");
  for (const char* stem : {"table-1", "table-2", "benchmark-regret", "benchmark-normalized-regret"}) {
    for (const char* end : {".txt", ".md", ".tex", ".csv"}) EXPECT_TRUE(names.contains(std::string(stem) + end));
  }
  EXPECT_EQ(Json::parse(bytes_of(scratch / "tables/table-2.json")), comparison_json(r_));
  EXPECT_EQ(page_data(bytes_of(scratch / "report.html")), reproduction_data(r_));
}

}  // namespace
}  // namespace pits::test
