// pits describe: what of the command line stays stable, and that man pages and completion follow it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "cli/bad_input.h"
#include "cli/process.h"
#include "cli/words.h"
#include "experiment/scratch.h"

namespace pits::test {
namespace {

std::string described(const std::string& words) {
  const Outcome outcome = pits(joined({"describe"}, words_of(words)));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return outcome.out;
}

// docs/versions.md: within 1.x nothing of this list goes away.
TEST(CommandLine, HasAllThatVersionOneHas) {
  const auto lines = lines_of(described("list"));
  const std::set<std::string> now(lines.begin(), lines.end());
  const auto frozen = lines_of(bytes_of(std::string(PITS_TEST_DIR) + "/stable/command-line.txt"));
  ASSERT_GT(frozen.size(), 150U);
  for (const std::string& line : frozen) EXPECT_TRUE(now.contains(line)) << line;
}

// Every option of the help is on the page of its command, as roff writes it.
TEST(ManPages, HaveEveryOption) {
  const auto lines = lines_of(described("list"));
  std::size_t found = 0;
  for (const std::string& line : lines) {
    const std::vector<std::string> words = words_of(line);
    const auto option = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with("--"); });
    if (words.size() < 3 || option == words.end()) continue;
    std::string roff;
    for (const char c : *option) roff += c == '-' ? "\\-" : std::string(1, c);
    EXPECT_NE(described("man " + words[1]).find(".B " + roff), std::string::npos) << line;
    ++found;
  }
  EXPECT_GT(found, 100U);
}

// The words that bash offers after a command line.
std::set<std::string> completed(const std::string& line) {
  const Scratch scratch;
  write_bytes(scratch / "pits.bash", described("bash"));
  write_bytes(scratch / "try.sh",
              "source '" + (scratch / "pits.bash").string() + "'\nCOMP_WORDS=(" + line +
                  ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_pits\nprintf '%s\\n' \"${COMPREPLY[@]}\" >'" +
                  (scratch / "out").string() + "'\n");
  EXPECT_EQ(std::system(("bash '" + (scratch / "try.sh").string() + "'").c_str()), 0);
  const auto lines = lines_of(bytes_of(scratch / "out"));
  return {lines.begin(), lines.end()};
}

using Words = std::set<std::string>;

TEST(BashCompletion, OffersCommandsOptionsAndNames) {
  EXPECT_EQ(completed("pits da"), Words{"data"});
  EXPECT_EQ(completed("pits data f"), Words{"fetch"});
  EXPECT_EQ(completed("pits run --real"), Words{"--realizations"});
  EXPECT_EQ(completed("pits data list --j"), Words{"--json"});
  EXPECT_EQ(completed(std::string(PITS_PROGRAM) + " run --agent lin-t"), Words{"lin-ts"});
}

TEST(ZshCompletion, IsReadByZsh) {
  if (std::system("command -v zsh >/dev/null") != 0) GTEST_SKIP() << "needs zsh";
  const Scratch scratch;
  write_bytes(scratch / "_pits", described("zsh"));
  EXPECT_EQ(std::system(("zsh -n '" + (scratch / "_pits").string() + "'").c_str()), 0);
}

TEST(Describe, RefusesUnknownForms) {
  expect_one_clear_line(pits(words_of("describe fish")), bad_data_or_config, {"'fish'", "bash"});
  expect_one_clear_line(pits(words_of("describe man runn")), bad_data_or_config, {"'runn'", "did you mean 'run'"});
  expect_one_clear_line(pits(words_of("describe bash run")), wrong_usage, {"takes no command"});
}

}  // namespace
}  // namespace pits::test
