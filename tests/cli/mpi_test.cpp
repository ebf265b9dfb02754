// Under mpirun: the same bytes, one message, and a lost rank costs only the cells it was computing.
#include "cli/mpi.h"

#include <gtest/gtest.h>

#include "cli/long_run.h"

namespace pits::test {
namespace {

class Mpi : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_mpi().empty()) GTEST_SKIP() << why_no_mpi();
  }
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

// mpirun adds lines of its own; the program's must be there once.
void expect_one_message(const Outcome& outcome, int exit_code, const std::string& message) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(count(outcome.err, message), 1U) << outcome.err;
  EXPECT_EQ(count(outcome.err, "pits: "), 1U) << outcome.err;
}

// Without the last column, the CPU time.
std::vector<std::string> table_without_times(const std::string& out) {
  std::vector<std::string> lines = lines_of(out);
  for (std::string& line : lines) {
    if (line.empty()) break;
    line.resize(line.find_last_of(' '));
    line.resize(line.find_last_not_of(' ') + 1);
  }
  return lines;
}

TEST_F(Mpi, RanksAndThreadsWriteTheSameBytes) {
  const Scratch scratch;
  const std::string size = "--steps 300 --realizations 3 --seed 11 --json --threads ";
  const Outcome one = pits(run_words(scratch / "one", size + "1"));
  expect_done(one);
  expect_done(pits(run_words(scratch / "threads", size + "2")));
  expect_same_files(scratch / "one", scratch / "threads");
  for (const int ranks : {2, 4}) {
    const auto out = scratch / std::to_string(ranks);
    const Outcome many = pits(run_words(out, size + (ranks == 2 ? "2" : "0")), under_mpirun(ranks));
    expect_done(many);
    expect_same_files(scratch / "one", out);
    EXPECT_EQ(names_in(out), names_in(scratch / "one"));
    EXPECT_EQ(without_seconds(many.out), without_seconds(one.out));
  }
}

TEST_F(Mpi, WithoutADirectoryTheTableIsPrintedOnce) {
  const auto words = words_of("run --agent lin-ts --agent uniform --env wheel --steps 100 --realizations 4");
  const Outcome one = pits(words);
  const Outcome ranks = pits(words, under_mpirun(3));
  expect_done(ranks);
  EXPECT_EQ(table_without_times(ranks.out), table_without_times(one.out));
}

TEST_F(Mpi, TomlIsReadByEveryRankAndOptionsOverrideIt) {
  const Scratch scratch;
  write_bytes(scratch / "sweep.toml",
              "agents = [\"lin-ts\"]\nenvironments = [\"linear\"]\nsteps = 5000\nrealizations = 3\nseed = 4\n"
              "[set.lin-ts]\nlambda = 0.5\n");
  const auto words = [&](const char* out) {
    return joined(words_of("run --steps 60 --env wheel --set lin-ts.lambda=2 --config"),
                  {(scratch / "sweep.toml").string(), "--out", (scratch / out).string()});
  };
  expect_done(pits(words("ranks"), under_mpirun(2)));
  expect_done(pits(words("threads")));
  expect_same_files(scratch / "threads", scratch / "ranks");
  const auto run = nlohmann::json::parse(bytes_of(scratch / "ranks/run.json"));
  EXPECT_EQ(run.at("steps"), 60);
  EXPECT_EQ(run.at("seed"), 4);
  EXPECT_EQ(run.at("environments").at(0).at("name"), "wheel");
  EXPECT_EQ(run.at("agents").at(0).at("fields").at("lambda"), "2");
}

TEST_F(Mpi, AnErrorIsSaidOnceWithItsExitCode) {
  const Scratch scratch;
  const std::string out = " --out " + (scratch / "run").string();
  expect_one_message(pits(words_of("run --agent nobody --env linear" + out), under_mpirun(3)), 3,
                     "unknown agent 'nobody'");
  expect_one_message(pits(words_of("run --agent"), under_mpirun(2)), 2, "--agent");
  EXPECT_TRUE(names_in(scratch.path()).empty());
  const std::string failing = "run --agent uniform --agent bernoulli-ts --env linear --steps 60 --realizations 1";
  expect_one_message(pits(words_of(failing + out), under_mpirun(2)), 3, "needs rewards in 0..1");
  expect_one_message(pits(words_of(failing + out), under_mpirun(2)), 3, "already holds a run");
}

TEST_F(Mpi, ARankThatDiffersIsNamed) {
  const std::string words = "run --agent lin-ts --env linear --steps 50";
  const auto second = joined({":", "-n", "1", PITS_PROGRAM}, words_of(words + " --seed 5"));
  const Outcome outcome = pits(joined(words_of(words), second), under_mpirun(1));
  expect_one_message(outcome, 3, "seed is 5 there and 0 now");
  EXPECT_EQ(count(outcome.err, "rank 1 on "), 1U) << outcome.err;
}

TEST_F(Mpi, WhatHasNoCellsIsDoneOnce) {
  for (const char* words : {"--version", "list flows"}) {
    EXPECT_EQ(pits(words_of(words), under_mpirun(2)).out, pits(words_of(words)).out);
  }
}

// Two plans one after another, each with a directory of its own, and the tables made of them.
TEST_F(Mpi, ReproductionHasTheSameBytes) {
  const Scratch scratch;
  const std::string some = "--only wheel --only posterior --steps 30 --realizations 1 --out ";
  const auto where = [](Surroundings s) {
    s.environment["CHROMIUM"] = "/bin/true";  // draws nothing
    s.environment["PITS_DATA"] = std::nullopt;
    s.environment["XDG_CACHE_HOME"] = "/nowhere";
    return s;
  };
  const Outcome one = pits(words_of("reproduce " + some + (scratch / "one").string()), where({}));
  const Outcome two = pits(words_of("reproduce " + some + (scratch / "two").string()), where(under_mpirun(2)));
  expect_done(one);
  expect_done(two);
  for (const char* section : {"wheel", "posterior"})
    expect_same_files(scratch / "one" / section, scratch / "two" / section);
  const auto names = names_in(scratch / "one/tables");
  EXPECT_EQ(names, names_in(scratch / "two/tables"));
  for (const std::string& name : names) {
    EXPECT_EQ(bytes_of(scratch / "one/tables" / name), bytes_of(scratch / "two/tables" / name)) << name;
  }
}

class MpiLongRun : public LongRun {
 protected:
  MpiLongRun() : LongRun(8000) {}  // mpirun takes its time to pass a signal on

  void SetUp() override {
    if (!why_no_mpi().empty()) GTEST_SKIP() << why_no_mpi();
  }
};

TEST_F(MpiLongRun, AKilledRankLosesOnlyWhatItWasComputing) {
  const Outcome killed =
      disturbed([](const Process& mpirun) { ::kill(process_of_rank(mpirun.id(), 1), SIGKILL); }, under_mpirun(2));
  EXPECT_NE(killed.exit_code, 0);
  EXPECT_EQ(killed.out, "");
  expect_half_done();
  expect_resumed_like_undisturbed(under_mpirun(2));
}

TEST_F(MpiLongRun, AKilledLeaderLeavesWhatIsFinished) {
  const Outcome killed =
      disturbed([](const Process& mpirun) { ::kill(process_of_rank(mpirun.id(), 0), SIGKILL); }, under_mpirun(3));
  EXPECT_NE(killed.exit_code, 0);
  expect_half_done();
}

// mpirun passes Ctrl-C on, and has an exit code of its own for it.
TEST_F(MpiLongRun, InterruptedSaysSoAndResumes) {
  const Outcome interrupted = disturbed([](const Process& mpirun) { mpirun.send(SIGINT); }, under_mpirun(2));
  EXPECT_NE(interrupted.exit_code, 0);
  EXPECT_EQ(interrupted.out, "");
  EXPECT_EQ(count(interrupted.err, "interrupted; the same command with --resume"), 1U) << interrupted.err;
  expect_half_done();
  expect_resumed_like_undisturbed();
}

TEST_F(MpiLongRun, ASignalToOneRankStopsAll) {
  const Outcome interrupted =
      disturbed([](const Process& mpirun) { ::kill(process_of_rank(mpirun.id(), 1), SIGTERM); }, under_mpirun(2));
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_EQ(count(interrupted.err, "interrupted; the same command with --resume"), 1U) << interrupted.err;
  expect_half_done();
}

}  // namespace
}  // namespace pits::test
