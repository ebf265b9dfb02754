// pits run --feedback all, from outside.
#include <gtest/gtest.h>

#include "cli/bad_input.h"
#include "cli/run_directory.h"

namespace pits::test {
namespace {

const std::string small = "run --agent lin-ts --agent uniform --env wheel --steps 120 --realizations 3 ";

Outcome run(const std::string& words, const std::filesystem::path& out) {
  return pits(joined(words_of(words), {"--out", out.string()}));
}

TEST(FeedbackOption, IsTheSameOnAnyNumberOfThreadsFromAFileAndAfterAResume) {
  const Scratch scratch;
  const Outcome first = run(small + "--feedback all --threads 1", scratch / "one");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.out.find("Normalised regret under full information, mean"), std::string::npos) << first.out;
  ASSERT_EQ(run(small + "--feedback all --threads 2", scratch / "two").exit_code, 0);
  expect_same_files(scratch / "one", scratch / "two");
  write_bytes(scratch / "run.toml",
              "agents = [\"lin-ts\", \"uniform\"]\nenvironments = [\"wheel\"]\nsteps = 120\nrealizations = 3\n"
              "feedback = \"all\"\n");
  const std::string from_file = "run --config " + (scratch / "run.toml").string();
  ASSERT_EQ(run(from_file, scratch / "file").exit_code, 0);
  expect_same_files(scratch / "one", scratch / "file");
  std::filesystem::remove(scratch / "two/cells/000001.json");
  ASSERT_EQ(run(small + "--feedback all --resume", scratch / "two").exit_code, 0);
  expect_same_files(scratch / "one", scratch / "two");
  const Outcome report = pits({"report", (scratch / "two").string()});
  EXPECT_NE(report.out.find("under full information"), std::string::npos) << report.out;
}

TEST(FeedbackOption, OfTheDefaultIsNoOption) {
  const Scratch scratch;
  ASSERT_EQ(run(small, scratch / "none").exit_code, 0);
  ASSERT_EQ(run(small + "--feedback played", scratch / "played").exit_code, 0);
  expect_same_files(scratch / "none", scratch / "played");
  expect_one_clear_line(run(small + "--feedback all --resume", scratch / "none"), bad_data_or_config,
                        {"feedback is absent there and \"all\" now"});
}

}  // namespace
}  // namespace pits::test
