// Product problems through the program: late rewards, several runs in a file, paired differences, docs/products.toml.
#include <gtest/gtest.h>

#include <cmath>

#include "cli/bad_input.h"
#include "cli/run_directory.h"

namespace pits::test {
namespace {

using Json = nlohmann::ordered_json;

Outcome run(const std::string& words, const std::filesystem::path& out) {
  const Outcome outcome = pits(joined(words_of("run " + words), {"--out", out.string()}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome;
}

TEST(LateRewards, AreTheSameOnAnyNumberOfThreadsAndAfterAResume) {
  const Scratch scratch;
  const std::string words =
      "--agent lin-ts --agent pi-ts,particles=3,hidden=4 --env click:new,delay=9,batch=4,appears=30 --steps 80 "
      "--realizations 3 --regret means ";
  run(words + "--threads 1", scratch / "one");
  run(words + "--threads 3", scratch / "three");
  expect_same_files(scratch / "one", scratch / "three");
  std::filesystem::copy(scratch / "one", scratch / "cut", std::filesystem::copy_options::recursive);
  for (const char* cell : {"1.json", "4.json"}) {
    for (const auto& entry : std::filesystem::directory_iterator(scratch / "cut" / "cells")) {
      if (entry.path().filename().string().ends_with(cell)) std::filesystem::remove(entry.path());
    }
  }
  EXPECT_LT(finished_cells(scratch / "cut"), 6U);
  run(words + "--resume", scratch / "cut");
  expect_same_files(scratch / "one", scratch / "cut");
}

TEST(PairedDifferences, AreThoseOfTheCells) {
  const Scratch scratch;
  const Outcome outcome =
      run("--agent lin-ts --agent uniform --env click --steps 60 --realizations 5 --compare lin-ts", scratch / "run");
  EXPECT_NE(outcome.out.find("minus lin-ts"), std::string::npos) << outcome.out;
  std::map<std::string, std::vector<double>> finals;
  for (const Json& cell : json_lines(bytes_of(scratch / "run" / "results.jsonl"))) {
    finals[cell.at("agent")].push_back(100.0 * cell.at("regret").get<double>() /
                                       cell.at("uniform_regret").get<double>());
  }
  double mean = 0.0, square = 0.0;
  for (std::size_t r = 0; r < 5; ++r) mean += (finals["uniform"][r] - finals["lin-ts"][r]) / 5.0;
  for (std::size_t r = 0; r < 5; ++r) square += std::pow(finals["uniform"][r] - finals["lin-ts"][r] - mean, 2);
  for (const Json& line : json_lines(bytes_of(scratch / "run" / "summary.jsonl"))) {
    EXPECT_EQ(line.contains("difference"), line.at("agent") == "uniform");
    if (!line.contains("difference")) continue;
    EXPECT_EQ(line["difference"]["to"], "lin-ts");
    EXPECT_NEAR(line["difference"]["mean"].get<double>(), mean, 1e-9);
    EXPECT_NEAR(line["difference"]["se"].get<double>(), std::sqrt(square / 4.0 / 5.0), 1e-9);
  }
}

class RunsOfAFile : public testing::Test {
 protected:
  RunsOfAFile() {
    write_bytes(scratch / "two.toml",
                "agents = ['lin-ts', 'uniform']\nsteps = 30\nrealizations = 2\n"
                "[[run]]\nname = 'plain'\nenvironments = ['wheel']\n"
                "[[run]]\nname = 'long'\nagents = ['uniform']\nenvironments = ['linear', 'click']\nsteps = 50\n");
  }
  std::string file() const { return "--config " + (scratch / "two.toml").string() + " "; }

  const Scratch scratch;
};

TEST_F(RunsOfAFile, AreTheRunsThatTheirTablesDescribe) {
  run(file(), scratch / "all");
  run("--agent lin-ts --agent uniform --env wheel --steps 30 --realizations 2", scratch / "plain");
  run("--agent uniform --env linear --env click --steps 50 --realizations 2", scratch / "long");
  expect_same_files(scratch / "all" / "plain", scratch / "plain");
  expect_same_files(scratch / "all" / "long", scratch / "long");
}

TEST_F(RunsOfAFile, CanBeRunInParts) {
  run(file(), scratch / "all");
  run(file() + "--only long", scratch / "parts");
  EXPECT_EQ(names_in(scratch / "parts"), std::set<std::string>{"long"});
  run(file() + "--resume", scratch / "parts");
  for (const char* name : {"plain", "long"}) expect_same_files(scratch / "all" / name, scratch / "parts" / name);
  const Outcome again = pits(joined(words_of("run " + file()), {"--out", (scratch / "parts").string()}));
  expect_one_clear_line(again, bad_data_or_config, {"plain", "already holds a run", "--resume"});
  const Outcome report = pits({"report", (scratch / "parts" / "long").string()});
  EXPECT_EQ(report.exit_code, 0) << report.err;
}

TEST_F(RunsOfAFile, TakeOptionsAndOneOfThemProblems) {
  const Outcome outcome = run(file() + "--only long --env drift --steps 20 --json", scratch / "one");
  const auto lines = json_lines(outcome.out);
  ASSERT_GE(lines.size(), 1U);
  EXPECT_EQ(lines[0].at("env"), "drift");
  EXPECT_EQ(lines[0].at("rounds"), 20);
}

// Every agent and problem of the file is there, and agents fit their problems.
TEST(Products, FileRuns) {
  const std::filesystem::path file = std::filesystem::path(PITS_TEST_DIR).parent_path() / "docs" / "products.toml";
  const Outcome outcome = pits({"run", "--config", file.string(), "--steps", "3", "--realizations", "1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::set<std::string> agents, problems;
  for (const Json& line : json_lines(outcome.out)) {
    agents.insert(line.at("agent"));
    problems.insert(line.at("env"));
    EXPECT_EQ(line.contains("difference"), line.at("agent") != "pi-ts");
    EXPECT_EQ(line.at("regret_of"), "means");
  }
  EXPECT_EQ(agents.size(), 9U);
  EXPECT_EQ(problems.size(), 29U);
}

}  // namespace
}  // namespace pits::test
