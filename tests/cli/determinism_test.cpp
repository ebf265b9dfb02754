// The same seed gives the same bytes: on any number of threads, after a crash, after Ctrl-C.
#include <gtest/gtest.h>

#include "cli/long_run.h"

namespace pits::test {
namespace {

TEST(Determinism, OneThreadAndTwoWriteTheSameBytes) {
  const Scratch scratch;
  const std::string size = "--steps 400 --realizations 3 --seed 11 --json --threads ";
  const Outcome one = pits(run_words(scratch / "one", size + "1"));
  const Outcome two = pits(run_words(scratch / "two", size + "2"));
  expect_done(one);
  expect_done(two);
  expect_same_files(scratch / "one", scratch / "two");
  EXPECT_EQ(json_lines(one.out).size(), 6U);
  EXPECT_EQ(without_seconds(one.out), without_seconds(two.out));
}

TEST(Determinism, MemoryAndDirectoryGiveTheSameLines) {
  const Scratch scratch;
  const std::string same = "run --agent lin-ts --env wheel --steps 200 --realizations 2 --json";
  const Outcome memory = pits(words_of(same));
  const Outcome directory = pits(joined(words_of(same), {"--out", (scratch / "run").string()}));
  EXPECT_EQ(without_seconds(memory.out), without_seconds(directory.out));
  EXPECT_EQ(without_seconds(memory.out), without_seconds(pits({"report", (scratch / "run").string(), "--json"}).out));
}

TEST(Determinism, AnotherSeedGivesOtherNumbers) {
  const std::string same = "run --agent lin-ts --env wheel --steps 200 --realizations 2 --json --seed ";
  EXPECT_NE(without_seconds(pits(words_of(same + "1")).out), without_seconds(pits(words_of(same + "2")).out));
}

TEST(Determinism, TomlAndCommandLineGiveTheSameBytes) {
  const Scratch scratch;
  write_bytes(
      scratch / "same.toml",
      "agents = [\"lin-ts\"]\nenvironments = [\"linear\", \"wheel\"]\nsteps = 100\nrealizations = 9\nseed = 4\n"
      "[set.lin-ts]\nlambda = 0.5\n[set-env]\ndimension = 3\nmean = [1, 2.5, 3]\n[set-env.wheel]\ndelta = 0.9\n");
  expect_done(pits(joined(words_of("run --realizations 2 --config"),
                          {(scratch / "same.toml").string(), "--out", (scratch / "a").string()})));
  expect_done(pits(joined(words_of("run --agent lin-ts --env linear --env wheel --steps 100 --realizations 2 --seed 4 "
                                   "--set lin-ts.lambda=0.5 --set-env linear.dimension=3 --set-env mean=1,2.5,3 "
                                   "--set-env delta=0.9 --out"),
                          {(scratch / "b").string()})));
  expect_same_files(scratch / "a", scratch / "b");
}

TEST_F(LongRun, KilledAndResumedIsLikeUndisturbed) {
  EXPECT_EQ(disturbed([](const Process& process) { process.send(SIGKILL); }).signal, SIGKILL);
  expect_half_done();
  expect_resumed_like_undisturbed();
}

TEST_F(LongRun, InterruptedSaysSoAndResumes) {
  const Outcome interrupted = disturbed([](const Process& process) { process.send(SIGINT); });
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_EQ(interrupted.out, "");
  EXPECT_NE(interrupted.err.find("interrupted; the same command with --resume"), std::string::npos) << interrupted.err;
  expect_half_done();
  const Outcome early = pits({"report", (scratch / "disturbed").string()});
  EXPECT_EQ(early.exit_code, 3);
  EXPECT_NE(early.err.find(" of 150 cells; finish it with --resume"), std::string::npos) << early.err;
  EXPECT_EQ(lines_of(early.err).size(), 1U);
  expect_resumed_like_undisturbed();
}

}  // namespace
}  // namespace pits::test
