#include "pits/core/io/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "pits/core/error.h"

namespace pits::test {
namespace {

using std::chrono::seconds;

TEST(Process, GivesAllOutputAndTheExitCode) {
  const auto result = run_process({"sh", "-c", "head -c 300000 /dev/zero; exit 7"}, seconds(60));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, std::string(300000, '\0'));
  EXPECT_EQ(result->exit_code, 7);
}

TEST(Process, PassesWordsAsTheyAre) {
  EXPECT_EQ(run_process({"printf", "%s|", "a b", "$HOME", "'", ""}, seconds(60))->output, "a b|$HOME|'||");
}

TEST(Process, HasNoInputAndNoPlaceForErrors) {
  EXPECT_EQ(run_process({"sh", "-c", "cat; echo lost >&2; echo kept"}, seconds(60))->output, "kept\n");
}

TEST(Process, EndedByASignalCountsAsInShells) {
  EXPECT_EQ(run_process({"sh", "-c", "kill -TERM $$"}, seconds(60))->exit_code, 128 + SIGTERM);
}

TEST(Process, OnesThatTakeTooLongAreKilledWithTheirChildren) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(run_process({"sh", "-c", "sleep 600 & wait"}, seconds(1)));
  EXPECT_FALSE(run_process({"sh", "-c", "exec >&-; sleep 600"}, seconds(1))) << "it has closed its output";
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(300));
}

// Runs, and is not only waiting for its parent to ask for its exit code.
bool runs(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string number, name, state;
  return file >> number >> name >> state && state != "Z";
}

// A child of the child that would live on, and that its own output does not keep waiting for.
TEST(Process, LeavesNothingBehind) {
  const auto result = run_process({"sh", "-c", "sleep 600 >/dev/null & echo $!"}, seconds(60));
  const std::string left = result->output.substr(0, result->output.find('\n'));
  ASSERT_FALSE(left.empty());
  for (int i = 0; i < 1000 && runs(left); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(runs(left));
}

TEST(Process, OneThatIsNotThereIsAnError) {
  try {
    run_process({"/no/such/program"}, seconds(1));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::failed);
    EXPECT_NE(std::string(e.what()).find("/no/such/program"), std::string::npos);
  }
}

}  // namespace
}  // namespace pits::test
