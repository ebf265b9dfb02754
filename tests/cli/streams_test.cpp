// Standard streams that are full, closed or without a reader: messages may be lost, results and exit codes not.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/process.h"
#include "cli/words.h"
#include "experiment/scratch.h"

namespace pits::test {
namespace {

// The program started by a shell with these redirections.
Surroundings redirected(const std::string& redirections) {
  return {.through = {"/bin/sh", "-c", "exec \"$0\" \"$@\" " + redirections}};
}

// Longer than two seconds, after which progress is reported; many cells, so that files are opened all the time.
#ifdef PITS_SANITIZED
constexpr int cells = 100;
#else
constexpr int cells = 600;
#endif
const std::string long_run =
    "run --agent lin-ts --env linear --steps 2000 --threads 2 --realizations " + std::to_string(cells);

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Every file of two runs of the same plan, but for times and the command line.
void expect_same_files(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(one)) {
    const auto name = std::filesystem::relative(entry.path(), one);
    const bool differs = name.string().starts_with("timings") || name == "origin.json" || name == "report.html" ||
                         name == "summary.jsonl" || name == "cost.csv";
    if (differs || !entry.is_regular_file()) continue;
    EXPECT_EQ(text_of(entry.path()), text_of(other / name)) << name;
    ++compared;
  }
  EXPECT_GT(compared, std::size_t{cells});
}

TEST(Streams, ThatAreFullOrClosedChangeNoFileOfARun) {
  const Scratch scratch;
  const auto run = [&](const std::string& name, const Surroundings& where) {
    return pits(joined(words_of(long_run), {"--out", (scratch / name).string()}), where);
  };
  ASSERT_EQ(run("open", {}).exit_code, 0);
  for (const std::string redirection : {"2>/dev/full", "2>&-", "<&- 2>&-"}) {
    EXPECT_EQ(run("redirected", redirected(redirection)).exit_code, 0) << redirection;
    expect_same_files(scratch / "open", scratch / "redirected");
    std::filesystem::remove_all(scratch / "redirected");
  }
}

TEST(Streams, ExitCodesAreTheDocumentedOnesWhereStderrTakesNothing) {
  for (const std::string redirection : {"2>/dev/full", "2>&-", "<&- 2>&-"}) {
    EXPECT_EQ(pits(words_of("run --bad"), redirected(redirection)).exit_code, 2) << redirection;
    EXPECT_EQ(pits(words_of("run --agent lin-t --env linear"), redirected(redirection)).exit_code, 3) << redirection;
  }
  EXPECT_EQ(pits(words_of("list agents"), redirected(">/dev/full 2>/dev/full")).exit_code, 1);
}

TEST(Streams, AClosedStdoutIsAFailureThatIsSaid) {
  const Outcome outcome = pits(words_of("list agents"), redirected(">&-"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "pits: cannot write to the standard output: Bad file descriptor\n");
  EXPECT_EQ(pits(words_of("list agents"), redirected("<&- >&- 2>&-")).exit_code, 1);
}

// `read` ends after the first line of progress; what follows meets a pipe that nobody reads.
TEST(Streams, ARunGoesOnWhenNobodyReadsItsProgress) {
  const Outcome outcome =
      pits(words_of(long_run),
           {.through = {"/bin/sh", "-c", "{ { \"$0\" \"$@\" 2>&1 >&3; echo $? >&3; } | read first; } 3>&1"}});
  EXPECT_NE(outcome.out.find("lin-ts"), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("\n0\n")) << outcome.out;
}

}  // namespace
}  // namespace pits::test
