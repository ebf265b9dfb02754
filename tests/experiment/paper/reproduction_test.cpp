#include "pits/experiment/paper/reproduction.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "pits/experiment/paper/paper.h"

namespace pits::test {
namespace {

std::vector<std::string> ids(const std::vector<Section>& sections) {
  std::vector<std::string> list;
  for (const Section& s : sections) list.push_back(s.id);
  return list;
}

std::vector<std::string> specs(const std::vector<Shown>& things) {
  std::vector<std::string> list;
  for (const Shown& s : things) list.push_back(s.spec);
  return list;
}

using Names = std::vector<std::string>;

// The best of each column as the paper sets it in bold.
TEST(Paper, TableTwoHasItsBoldFiguresWhereThePaperHasThem) {
  for (const PaperProblem& problem : paper_problems()) {
    std::string best;
    double least = 1e9;
    for (const std::string agent : {"lin-ts", "neural-linear", "vi-ts", "pi-ts:released"}) {
      const auto regret = paper_regret(agent, problem.environment);
      ASSERT_TRUE(regret.has_value());
      if (regret->mean < least) best = agent;
      least = std::min(least, regret->mean);
    }
    EXPECT_EQ(best, problem.environment == "mushroom" ? "lin-ts" : "pi-ts:released");
  }
  EXPECT_FALSE(paper_regret("uniform", "census").has_value());
  EXPECT_FALSE(paper_regret("lin-ts", "wheel").has_value());
}

// The rows of the paper's LaTeX, typed again: mean and figure after ± for each problem.
TEST(Paper, TableTwoIsThePapers) {
  const std::vector<std::pair<std::string, std::vector<double>>> rows = {
      {"lin-ts", {18.62, .02, 96.71, .09, 59.32, .08, 94.54, .28, 10.48, .04, 13.22, .13}},
      {"neural-linear", {13.96, .03, 97.55, .06, 65.51, .07, 79.15, .32, 17.76, .06, 14.25, .12}},
      {"vi-ts", {23.32, .09, 95.66, .08, 60.99, .25, 64.85, .91, 35.2, .31, 23.32, .16}},
      {"pi-ts:released", {5.37, .03, 90.76, .11, 46.48, .10, 49.85, .52, 8.23, .10, 14.29, .07}}};
  const Names columns = {"statlog", "adult", "covertype", "census", "financial", "mushroom"};
  for (const auto& [agent, numbers] : rows) {
    for (std::size_t e = 0; e < columns.size(); ++e) {
      const auto regret = paper_regret(agent, columns[e]);
      ASSERT_TRUE(regret.has_value());
      EXPECT_EQ(regret->mean, numbers[2 * e]) << agent << " " << columns[e];
      EXPECT_EQ(regret->spread, numbers[2 * e + 1]) << agent << " " << columns[e];
    }
  }
}

TEST(Sections, EverySpecIsInTheCatalogues) {
  for (const Section& section : paper_sections()) {
    for (const Shown& agent : section.agents) {
      EXPECT_NO_THROW(find_recipe(agent_catalogue(), "agent", parse_spec(agent.spec))) << agent.spec;
    }
    for (const Shown& env : section.environments) {
      EXPECT_NO_THROW(find_recipe(environment_catalogue(), "environment", parse_spec(env.spec))) << env.spec;
    }
  }
}

// A row of the paper does not change its meaning with what an agent does by default; that default has a row of its own.
TEST(Sections, EveryPiTsNamesItsPreset) {
  std::size_t found = 0;
  for (const Section& section : paper_sections()) {
    for (const std::string& spec : specs(section.agents)) {
      if (!spec.starts_with("pi-ts") || spec == "pi-ts") continue;
      EXPECT_TRUE(spec.starts_with("pi-ts:released") || spec.starts_with("pi-ts:paper")) << spec;
      ++found;
    }
  }
  EXPECT_GT(found, 5U);
}

TEST(Sections, NoNameSelectsEverything) {
  EXPECT_EQ(ids(select_sections({})), (Names{"benchmark", "ablation", "linear", "posterior", "wheel"}));
}

TEST(Sections, NamesOfSectionsSelectThem) {
  EXPECT_EQ(ids(select_sections({"wheel", "ablation"})), (Names{"ablation", "wheel"}));
  const auto box = select_sections({"box"});
  EXPECT_EQ(ids(box), Names{"benchmark"});
  EXPECT_EQ(box[0].figures, Names{"box"});
  EXPECT_EQ(box[0].environments.size(), 6U);
}

TEST(Sections, NamesOfProblemsKeepOnlyThem) {
  const auto jester = select_sections({"jester"});
  EXPECT_EQ(ids(jester), Names{"wheel"});
  EXPECT_EQ(specs(jester[0].environments), Names{"jester"});
  const auto table = select_sections({"table", "statlog", "census"});
  EXPECT_EQ(ids(table), Names{"benchmark"});
  EXPECT_EQ(specs(table[0].environments), (Names{"statlog", "census"}));
}

TEST(Sections, AProblemThatNoNamedSectionHasBringsInItsOwn) {
  const auto both = select_sections({"ablation", "statlog"});
  EXPECT_EQ(ids(both), (Names{"benchmark", "ablation"}));
  EXPECT_EQ(specs(both[0].environments), Names{"statlog"});
  const auto linear = select_sections({"statlog", "linear"});
  EXPECT_EQ(ids(linear), (Names{"benchmark", "linear"}));
  EXPECT_EQ(linear[1].environments.size(), 4U);
}

TEST(Sections, ANameThatIsBothKeepsTheProblemToo) {
  const auto wheel = select_sections({"jester", "wheel"});
  EXPECT_EQ(ids(wheel), Names{"wheel"});
  EXPECT_EQ(wheel[0].environments.size(), 6U);
  EXPECT_EQ(select_sections({"wheel"})[0].environments.size(), 6U);
  const auto sparse = select_sections({"linear", "sparse_linear"});
  EXPECT_EQ(sparse[0].environments.size(), 4U);
  EXPECT_EQ(select_sections({"sparse_linear"})[0].environments.size(), 2U);
}

TEST(Sections, UnknownNamesAreErrors) {
  expect_mentions(message_of([] { select_sections({"tabel"}); }), {"tabel", "did you mean 'table'"});
}

TEST(Sections, MissingDataIsLeftOutAndNamed) {
  const Scratch scratch;
  unsetenv("PITS_DATA");
  setenv("XDG_CACHE_HOME", scratch.path().c_str(), 1);
  auto sections = paper_sections();
  const auto missing = drop_missing_data(sections, {}, "");
  EXPECT_EQ(ids(sections), (Names{"benchmark", "ablation", "linear", "posterior", "wheel"}));
  EXPECT_EQ(sections.front().environments.size(), 3U) << "what comes with pits";
  ASSERT_EQ(missing.size(), 4U);
  EXPECT_EQ(missing.front().environment, "covertype");
  EXPECT_EQ(missing.back().environment, "jester");
  EXPECT_NE(missing.front().reason.find("covtype.data"), std::string::npos);
  EXPECT_EQ(sections.back().environments.size(), 5U);  // the wheel stays

  auto nowhere = paper_sections();
  expect_mentions(message_of([&] { drop_missing_data(nowhere, {}, "/no/such/directory"); }), {"/no/such/directory"});
  auto asked = select_sections({"covertype"});
  expect_mentions(message_of([&] { drop_missing_data(asked, {"covertype"}, ""); }), {"covtype.data"});
}

TEST(Sections, ConfigCarriesTheProbeAndTheNumbers) {
  const auto sections = select_sections({"posterior"});
  const ExperimentConfig config = section_config(sections[0], {.steps = 10, .realizations = 3, .seed = 7});
  EXPECT_EQ(config.probe, "posterior");
  EXPECT_EQ(config.steps, 10);
  EXPECT_EQ(config.realizations, 3);
  EXPECT_EQ(config.seed, 7);
  EXPECT_EQ(config.agents.size(), sections[0].agents.size());
}

}  // namespace
}  // namespace pits::test
