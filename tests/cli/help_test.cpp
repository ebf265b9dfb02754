// Help ends with an example, and the examples work.
#include <gtest/gtest.h>

#include "cli/process.h"
#include "cli/words.h"
#include "experiment/scratch.h"

namespace pits {
namespace {

using test::joined;
using test::lines_of;
using test::Outcome;
using test::words_of;

// The names under "Subcommands:" of `pits --help`.
std::vector<std::string> subcommands() {
  std::vector<std::string> names;
  bool inside = false;
  for (const std::string& line : lines_of(test::pits({"--help"}).out)) {
    if (line == "Subcommands:") {
      inside = true;
    } else if (inside && line.empty()) {
      break;
    } else if (inside) {
      names.push_back(words_of(line).front());
    }
  }
  return names;
}

// The command lines after "Example:", which must end the help.
std::vector<std::string> examples_in(const std::string& help) {
  const std::size_t at = help.rfind("Example:\n");
  EXPECT_NE(at, std::string::npos) << help;
  std::vector<std::string> examples;
  for (const std::string& line : lines_of(help.substr(at + 9))) {
    EXPECT_TRUE(line.starts_with("  pits ")) << line;
    examples.push_back(line.substr(2));
  }
  EXPECT_FALSE(examples.empty()) << help;
  return examples;
}

std::vector<std::string> help_words(const std::string& subcommand) {
  return subcommand.empty() ? words_of("--help") : std::vector<std::string>{subcommand, "--help"};
}

TEST(Help, OfTheProgramAndOfEverySubcommandEndsWithAnExample) {
  const std::vector<std::string> names = subcommands();
  ASSERT_GE(names.size(), 4U);
  for (const std::string& name : joined({""}, names)) {
    const Outcome help = test::pits(help_words(name));
    EXPECT_EQ(help.exit_code, 0) << name;
    EXPECT_EQ(help.err, "") << name;
    examples_in(help.out);
  }
}

TEST(Help, NamesTheExitCodes) {
  const std::string help = test::pits({"--help"}).out;
  for (const char* code : {"0 done", "1 failed", "2 wrong usage", "3 bad data or config", "130 interrupted"}) {
    EXPECT_NE(help.find(code), std::string::npos) << code;
  }
}

TEST(Help, ExamplesWork) {
  const std::map<std::string, std::string> cut_down = {
      {"run", "--steps 100"}, {"sample", "--iterations 20"}, {"reproduce", "--steps 50"}};
  const test::Scratch scratch;
  test::pits({"log", "import", (scratch / "shop").string(), std::string(PITS_TEST_DIR) + "/log/fixtures/shop.jsonl"});
  for (const std::string& name : joined({""}, subcommands())) {
#ifndef PITS_HAS_BENCH
    if (name == "bench") continue;
#endif
    if (name == "serve") continue;  // does not end by itself; python/tests/test_service.py starts it
    for (const std::string& example : examples_in(test::pits(help_words(name)).out)) {
      std::vector<std::string> words = words_of(example);
      ASSERT_EQ(words.front(), "pits");
      words.erase(words.begin());
      const auto less = cut_down.find(words.front());
      if (less != cut_down.end()) words = joined(words, words_of(less->second));
      const Outcome outcome = test::pits(words, {.directory = scratch.path()});
      EXPECT_EQ(outcome.exit_code, 0) << example << "\n" << outcome.err;
      EXPECT_NE(outcome.out, "") << example;
    }
  }
  EXPECT_TRUE(std::filesystem::exists(scratch / "runs/linear/report.html"));
}

TEST(Version, IsOneLine) {
  const Outcome outcome = test::pits({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.out.starts_with("pits "));
  EXPECT_EQ(lines_of(outcome.out).size(), 1U);
}

}  // namespace
}  // namespace pits
