#include "pits/experiment/reproduction.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "pits/experiment/paper.h"

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
  EXPECT_EQ(paper_regret("pi-ts:released", "census")->mean, 49.85);
  EXPECT_EQ(paper_regret("vi-ts", "financial")->mean, 35.2);
  EXPECT_FALSE(paper_regret("uniform", "census").has_value());
  EXPECT_FALSE(paper_regret("lin-ts", "wheel").has_value());
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

TEST(Sections, UnknownNamesAndEmptySelectionsAreErrors) {
  expect_mentions(message_of([] { select_sections({"tabel"}); }), {"tabel", "did you mean 'table'"});
  expect_mentions(message_of([] { select_sections({"ablation", "statlog"}); }), {"nothing"});
}

TEST(Sections, MissingDataIsLeftOutAndNamed) {
  const Scratch scratch;
  unsetenv("PITS_DATA");
  setenv("XDG_CACHE_HOME", scratch.path().c_str(), 1);
  auto sections = paper_sections();
  const auto missing = drop_missing_data(sections, {}, "");
  EXPECT_EQ(ids(sections), (Names{"ablation", "linear", "posterior", "wheel"}));
  ASSERT_EQ(missing.size(), 7U);
  EXPECT_EQ(missing.front().environment, "statlog");
  EXPECT_EQ(missing.back().environment, "jester");
  EXPECT_NE(missing.front().reason.find("shuttle.trn"), std::string::npos);
  EXPECT_EQ(sections.back().environments.size(), 5U);  // the wheel stays

  auto asked = select_sections({"statlog"});
  expect_mentions(message_of([&] { drop_missing_data(asked, {"statlog"}, ""); }), {"shuttle.trn"});
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
