// The tool of these tests itself: a test that can't fail is a defect.
#include "cli/process.h"

#include "experiment/scratch.h"

namespace pits {
namespace {

TEST(Process, KeepsTheStreamsApart) {
  const test::Outcome good = test::pits({"--version"});
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_TRUE(good.out.starts_with("pits 0.") || good.out.starts_with("pits 1.")) << good.out;
  EXPECT_EQ(good.err, "");
  const test::Outcome bad = test::pits({"--verson"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_EQ(bad.out, "");
  EXPECT_NE(bad.err, "");
}

TEST(Process, KillsWhatRunsTooLong) {
  test::Process endless({"run", "--agent", "lin-ts", "--env", "linear", "--steps", "2000000000"},
                        {.timeout = std::chrono::seconds(1)});
  const test::Outcome outcome = endless.wait();
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_EQ(outcome.exit_code, -1);
}

TEST(Process, RunsWhereItIsTold) {
  const test::Scratch scratch;
  test::write_bytes(scratch / "here.toml", "agents = 3");
  const test::Outcome outcome = test::pits({"run", "--config", "here.toml"}, {.directory = scratch.path()});
  EXPECT_NE(outcome.err.find("here.toml:1"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace pits
