// docs/versions.md: a run directory that 1.0 has written (stable/run) is shown by every later 1.x, and --json keeps its keys.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "cli/process.h"
#include "cli/words.h"
#include "experiment/scratch.h"

namespace pits::test {
namespace {

const std::string frozen = std::string(PITS_TEST_DIR) + "/stable/run";

class FrozenRun : public testing::Test {
 protected:
  FrozenRun() { std::filesystem::copy(frozen, scratch / "run", std::filesystem::copy_options::recursive); }
  const Scratch scratch;
  const std::string run = (scratch / "run").string();
};

TEST_F(FrozenRun, IsShownAsItWasWhenItWasWritten) {
  const Outcome shown = pits({"report", run});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.out.substr(0, shown.out.find("Report:")), bytes_of(frozen + "/table.txt"));
  EXPECT_GT(std::filesystem::file_size(run + "/report.html"), 100'000U);
}

TEST_F(FrozenRun, HasAllKeysOfItsLinesOfJson) {
  const Outcome shown = pits({"report", run, "--json"});
  const auto now = json_lines(shown.out), then = json_lines(bytes_of(frozen + "/table.jsonl"));
  ASSERT_EQ(now.size(), then.size());
  for (std::size_t i = 0; i < then.size(); ++i) {
    for (const auto& [key, value] : then[i].items()) {
      ASSERT_TRUE(now[i].contains(key)) << key;
      EXPECT_EQ(now[i].at(key), value) << key;
    }
  }
}

}  // namespace
}  // namespace pits::test
