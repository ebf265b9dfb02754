// pits describe: what of the command line stays stable, and that man pages and completion follow it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
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
  EXPECT_EQ(completed(std::string(PITS_PROGRAM) + " run --env cov"), Words{"covertype"});
}

TEST(ZshCompletion, IsReadByZsh) {
  if (std::system("command -v zsh >/dev/null") != 0) GTEST_SKIP() << "needs zsh";
  const Scratch scratch;
  write_bytes(scratch / "_pits", described("zsh"));
  EXPECT_EQ(std::system(("zsh -n '" + (scratch / "_pits").string() + "'").c_str()), 0);
}

// The command line after a TAB in a new interactive zsh that finds the completion as the Debian package has it.
std::string after_first_tab(const std::string& line) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "functions");
  write_bytes(scratch / "functions/_pits", described("zsh"));
  write_bytes(scratch / "try.zsh", R"sh(cd $1; path=($2 $path)
zmodload zsh/zpty; zmodload zsh/zselect
zpty -b shell zsh -f -i
settings='fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -d $PWD/dump; show() { print -r -- "$BUFFER" >out.part; mv out.part out }; zle -N show; bindkey "^I" complete-word; bindkey "^X" show; : >ready'
zpty -w shell $settings
# The terminal is read all the time, or the shell would wait for it. Keys before zsh is ready would be lost.
wait_for() { for i in {1..1000}; do zpty -rt shell 2>/dev/null >/dev/null; [[ -e $1 ]] && return; zselect -t 3; done; print "no $1" >&2; exit 1 }
wait_for ready
zpty -wn shell $3$'\t'
zpty -wn shell $'\C-x'
wait_for out
zpty -d shell
)sh");
  const std::string folder = std::filesystem::path(PITS_PROGRAM).parent_path().string();
  const std::string here = scratch.path().string();
  EXPECT_EQ(std::system(("zsh -f '" + here + "/try.zsh' '" + here + "' '" + folder + "' '" + line + "'").c_str()), 0);
  const auto lines = lines_of(bytes_of(scratch / "out"));
  return lines.empty() ? "" : lines.front();
}

// Each of them is the first TAB of its shell.
TEST(ZshCompletion, OffersCommandsOptionsAndNamesAtTheFirstTab) {
  if (std::system("command -v zsh >/dev/null") != 0) GTEST_SKIP() << "needs zsh";
  EXPECT_EQ(after_first_tab("pits repro"), "pits reproduce ");
  EXPECT_EQ(after_first_tab("pits data fet"), "pits data fetch ");
  EXPECT_EQ(after_first_tab("pits run --realiz"), "pits run --realizations ");
  EXPECT_EQ(after_first_tab("pits run --agent neural-lin"), "pits run --agent neural-linear ");
  EXPECT_EQ(after_first_tab("pits run --env cov"), "pits run --env covertype ");
}

TEST(ManPages, SayWhatACommandNeeds) {
  const auto synopsis = [](const std::string& words) {
    const auto lines = lines_of(described("man " + words));
    return *(std::ranges::find(lines, ".SH SYNOPSIS") + 2);
  };
  EXPECT_EQ(synopsis("evaluate"), "[OPTIONS] LOG");
  EXPECT_EQ(synopsis("describe"), "[OPTIONS] form [command]");
  EXPECT_EQ(synopsis("serve"), "[OPTIONS] \\-\\-store TEXT");
}

TEST(Describe, RefusesUnknownForms) {
  expect_one_clear_line(pits(words_of("describe fish")), bad_data_or_config, {"'fish'", "bash"});
  expect_one_clear_line(pits(words_of("describe man runn")), bad_data_or_config, {"'runn'", "did you mean 'run'"});
  expect_one_clear_line(pits(words_of("describe bash run")), wrong_usage, {"takes no command"});
}

}  // namespace
}  // namespace pits::test
