// Run directories through the program: what is refused, and what is left alone.
#include <gtest/gtest.h>

#include "cli/bad_input.h"
#include "cli/run_directory.h"

namespace pits::test {
namespace {

class Resume : public testing::Test {
 protected:
  Resume() { EXPECT_EQ(run("").exit_code, 0); }
  Outcome run(const std::string& more, std::map<std::string, std::optional<std::string>> environment = {}) const {
    const std::string words = "run --agent lin-ts --env wheel --steps 60 --realizations 2 " + more;
    return pits(joined(words_of(words), {"--out", directory.string()}), {.environment = std::move(environment)});
  }
  void expect_refused(const Outcome& outcome, const std::vector<std::string>& mentions) const {
    expect_one_clear_line(outcome, bad_data_or_config, mentions);
  }

  const Scratch scratch;
  const std::filesystem::path directory = scratch / "run";
};

TEST_F(Resume, ADirectoryThatHoldsARunIsNotOverwritten) {
  const auto before = lasting_files(directory);
  expect_refused(run(""), {directory.string(), "already holds a run", "--resume"});
  expect_refused(run("--seed 3"), {"already holds a run"});
  EXPECT_EQ(lasting_files(directory), before);
}

TEST_F(Resume, AnotherRunIsRefusedWithTheDifference) {
  const auto before = lasting_files(directory);
  expect_refused(run("--resume --seed 3"), {"seed is 0 there and 3 now", "choose another --out"});
  expect_refused(run("--resume --agent uniform"), {"agents"});
  expect_refused(run("--resume --set lin-ts.lambda=7"), {"agents/0/fields/lambda is \"0.25\" there and \"7\" now"});
  EXPECT_EQ(lasting_files(directory), before);
}

TEST_F(Resume, AFinishedRunShowsItsTableAgain) {
  const auto before = lasting_files(directory);
  const Outcome again = run("--resume");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("lin-ts"), std::string::npos);
  EXPECT_EQ(lasting_files(directory), before);
}

TEST_F(Resume, AnotherSimdTargetIsRefused) {
  const auto used = nlohmann::json::parse(bytes_of(directory / "run.json")).at("simd").get<std::string>();
  const std::string known = run("--resume", {{"PITS_SIMD", "none"}}).err;
  const auto names = words_of(known.substr(known.find("Known: ") + 7));
  if (names.size() < 2) GTEST_SKIP() << "the machine has one SIMD target only";
  const std::string& other = names.back();
  ASSERT_NE(other, used);
  expect_refused(run("--resume", {{"PITS_SIMD", other}}), {"simd is \"" + used + "\" there and \"" + other + "\" now"});
}

TEST_F(Resume, ADamagedCellIsNamed) {
  const auto cell = directory / "cells/000001.json";
  write_bytes(cell, bytes_of(cell).substr(0, 40));
  expect_refused(run("--resume"), {cell.string(), "damaged", "remove it"});
  expect_refused(pits({"report", directory.string()}), {cell.string(), "damaged"});
}

TEST_F(Resume, ADamagedConfigOrOriginIsNamed) {
  write_bytes(directory / "origin.json", "[]");
  expect_refused(pits({"report", directory.string()}), {"origin.json", "damaged"});
  write_bytes(directory / "run.json", "null");
  expect_refused(pits({"report", directory.string()}), {"run.json", "not the config of a run"});
  expect_refused(run("--resume"), {directory.string(), "not the config of a run"});
  write_bytes(directory / "run.json", "{\"seed\": ");
  expect_refused(run("--resume"), {"run.json", "damaged"});
}

TEST_F(Resume, ADirectoryInUseIsRefused) {
  const auto busy = scratch / "busy";
  Process holder({"run", "--agent", "lin-ts", "--env", "linear", "--steps", "2000000000", "--out", busy.string()}, {});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);  // a loaded machine is slow
  while (!std::filesystem::exists(busy / "run.json") && std::chrono::steady_clock::now() < deadline) ::usleep(1000);
  if (!std::filesystem::exists(busy / "run.json")) {
    holder.send(SIGKILL);
    FAIL() << "the first run has not begun within a minute: " << holder.wait().err;
  }
  const Outcome second = pits(
      {"run", "--agent", "lin-ts", "--env", "linear", "--steps", "2000000000", "--out", busy.string(), "--resume"});
  expect_refused(second, {busy.string(), "in use by another pits"});
}

// A run that fails in a round leaves its directory, which can be resumed; no result is half written.
TEST_F(Resume, ARunThatFailsHalfwayLeavesNoResults) {
  const auto failing = scratch / "failing";
  const std::string words = "run --agent uniform --agent bernoulli-ts --env linear --steps 60 --realizations 1 --out ";
  const std::vector<std::string> mentions = {"agent 'bernoulli-ts' on 'linear', realization 0", "rewards in 0..1",
                                             "gaussian-ts"};
  expect_refused(pits(words_of(words + failing.string())), mentions);
  for (const char* name : {"results.jsonl", "curves.npy", "summary.jsonl", "report.html"}) {
    EXPECT_FALSE(std::filesystem::exists(failing / name)) << name;
  }
  expect_refused(pits(words_of(words + failing.string() + " --resume")), mentions);
}

TEST_F(Resume, ReportWritesThePageAgain) {
  const std::string page = bytes_of(directory / "report.html");
  std::filesystem::remove(directory / "report.html");
  const Outcome report = pits({"report", directory.string()});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_NE(report.out.find("Report: " + (directory / "report.html").string()), std::string::npos) << report.out;
  EXPECT_EQ(bytes_of(directory / "report.html"), page);
}

TEST_F(Resume, ReportKnowsWhatSetAddedToALabel) {
  const auto spos = (scratch / "spos").string();
  const std::string words =
      "run --agent pi-ts,flow=spos,particles=3,hidden=4 --set pi-ts.optimizer=sgd --set pi-ts.step=1e-7 --env wheel "
      "--steps 60 --realizations 1 --out ";
  ASSERT_EQ(pits(words_of(words + spos)).exit_code, 0);
  const Outcome report = pits({"report", spos});
  EXPECT_EQ(report.exit_code, 0) << report.err;
}

TEST_F(Resume, DamageIsSaidInOurOwnWords) {
  const auto damaged = [&](const std::string& file) {
    const std::string whole = bytes_of(directory / file);
    write_bytes(directory / file, whole.substr(0, 9));
    const Outcome outcome = file == "origin.json" ? pits({"report", directory.string()}) : run("--resume");
    write_bytes(directory / file, whole);
    EXPECT_EQ(outcome.err.find("json.exception"), std::string::npos) << outcome.err;
    return outcome;
  };
  expect_refused(damaged("run.json"), {"run.json' is damaged: it is not valid JSON at byte 10; remove it"});
  expect_refused(damaged("origin.json"), {"origin.json' is damaged: it is not valid JSON at byte 10; write {\"command\""});
  expect_refused(damaged("cells/000001.json"), {"000001.json' is damaged: it is not valid JSON at byte 10; remove it"});
  expect_refused(damaged("timings/000001.json"), {"000001.json' is damaged: it is not valid JSON at byte 10; remove it"});
}

TEST_F(Resume, APlaceThatIsNotUtf8IsAPlace) {
  const std::string odd = (scratch / "run-\xff").string();
  const Outcome outcome = pits({"run", "--agent", "uniform", "--env", "wheel", "--steps", "9", "--out", odd});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(pits({"report", odd}).exit_code, 0);
}

}  // namespace
}  // namespace pits::test
