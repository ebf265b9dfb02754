// pits evaluate and pits run --log, from outside.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/bad_input.h"

namespace pits {
namespace {

using Json = nlohmann::json;
using test::Outcome;
using test::Scratch;

class Evaluate : public testing::Test {
 protected:
  Outcome pits(const std::string& words) { return test::pits(test::words_of(words), {.directory = scratch_.path()}); }
  void make_log(const std::string& words) {
    const Outcome outcome = pits("run --realizations 1 --log log.jsonl " + words);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  std::vector<Json> lines(const std::string& words) {
    const Outcome outcome = pits("evaluate log.jsonl --json " + words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<Json> all;
    for (const std::string& line : test::lines_of(outcome.out)) all.push_back(Json::parse(line));
    return all;
  }
  void expect_error(const std::string& words, int code, const std::string& what) {
    test::expect_one_clear_line(pits(words), code, {what});
  }
  Scratch scratch_;
};

TEST_F(Evaluate, LogsOfRunsKnowTheTruth) {
  make_log("--agent uniform --env click:frequent --steps 4000");
  const std::vector<Json> found =
      lines("--policy uniform --policy fixed:1 --policy agent:pi-ts:fast --reward-range 0,1");
  ASSERT_EQ(found.size(), 4);
  EXPECT_EQ(found[0]["rounds"], 4000);
  for (std::size_t j = 1; j < 4; ++j) {
    const double truth = found[j]["truth"];
    const Json& dr = found[j]["estimates"]["dr"];
    EXPECT_NEAR(dr["value"].get<double>(), truth, 4.0 * dr["error"].get<double>()) << found[j]["policy"];
    EXPECT_LT(found[j]["sequence"][0].get<double>(), truth);
    EXPECT_GT(found[j]["sequence"][1].get<double>(), truth);
    EXPECT_EQ(found[j]["curve"].size(), 100);
  }
  EXPECT_TRUE(found[3].contains("remark"));
}

TEST_F(Evaluate, AgentsThatForceAndLearnAreLogged) {
  make_log("--agent pi-ts:paper,particles=2,hidden=4,floor=0.05 --env click:frequent --steps 300");
  const std::vector<Json> found = lines("--policy uniform");
  EXPECT_GT(found[0]["counts"]["cold_start"].get<int>(), 0);
  EXPECT_EQ(found[0]["rounds"].get<int>() + found[0]["counts"]["cold_start"].get<int>(), 300);
  EXPECT_EQ(found[1]["weights"]["unsupported"], 0.0);
}

TEST_F(Evaluate, TableAndPage) {
  make_log("--agent uniform --env linear --steps 200");
  const Outcome outcome = pits("evaluate log.jsonl --policy uniform --policy fixed:2 --out page.html --feature 3");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part :
       {"value (dr)", "95 % asymptotic", "to logged", "no support", "200 rounds, 8 actions", "Page: "}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
  const std::string page = test::bytes_of(scratch_ / "page.html");
  EXPECT_NE(page.find("\"kind\":\"evaluate\""), std::string::npos);
  EXPECT_EQ(page.find("__PITS_DATA__"), std::string::npos);
}

TEST_F(Evaluate, TheSameOutputForAnyNumberOfThreads) {
  make_log("--agent uniform --env linear --steps 300");
  const std::string words =
      "evaluate log.jsonl --json --policy agent:lin-ts --policy fixed:2 --bootstrap 50 --threads ";
  const Outcome one = pits(words + "1"), three = pits(words + "3");
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out, three.out);
}

TEST_F(Evaluate, BadCalls) {
  make_log("--agent uniform --env linear --steps 100");
  expect_error("evaluate log.jsonl", test::wrong_usage, "say which: --policy");
  expect_error("evaluate nothing.csv --policy uniform", test::bad_data_or_config, "there is no log 'nothing.csv'");
  expect_error("evaluate log.jsonl --policy fixed:99", test::bad_data_or_config, "unknown action '99'");
  expect_error("evaluate log.jsonl --policy uniform --interval sequence", test::wrong_usage, "needs --reward-range");
  expect_error("evaluate log.jsonl --policy uniform --reward-range 0,1", test::bad_data_or_config,
               "line 1: the reward");
  expect_error("evaluate log.jsonl --policy uniform --reward-range 1", test::wrong_usage, "two numbers");
  expect_error("evaluate log.jsonl --policy uniform --model none --estimator dr", test::wrong_usage, "needs a --model");
  expect_error("evaluate log.jsonl --policy uniform --format xml", test::bad_data_or_config, "xml");
  expect_error("run --agent uniform --env linear --steps 20 --realizations 2 --log two.jsonl", test::wrong_usage,
               "one agent on one problem");
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "two.jsonl"));
}

}  // namespace
}  // namespace pits
