// Results on stdout, everything else on stderr; colour only for a person.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>

#include "cli/process.h"
#include "cli/words.h"
#include "experiment/scratch.h"

namespace pits::test {
namespace {

const std::string quick_run = "run --agent lin-ts --agent uniform --env wheel --steps 60 --realizations 2";

TEST(Output, IsATableWithoutEscapeCodesInAPipe) {
  for (const char* words : {"run --agent lin-ts --env wheel --steps 60 --realizations 2", "list agents", "list flows",
                            "list agents pi-ts", "--help"}) {
    const Outcome outcome = pits(words_of(words));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out.find('\033'), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.err, "") << words;
  }
}

TEST(Output, IsBoldOnATerminalUnlessNoColor) {
  const Outcome coloured = pits(words_of(quick_run), {.terminal = true});
  EXPECT_EQ(coloured.exit_code, 0);
  EXPECT_NE(coloured.out.find("\033[1m"), std::string::npos) << coloured.out;
  const Outcome plain = pits(words_of(quick_run), {.environment = {{"NO_COLOR", "1"}}, .terminal = true});
  EXPECT_NE(plain.out.find("lin-ts"), std::string::npos);
  EXPECT_EQ(plain.out.find('\033'), std::string::npos) << plain.out;
  const Outcome empty = pits(words_of(quick_run), {.environment = {{"NO_COLOR", ""}}, .terminal = true});
  EXPECT_NE(empty.out.find('\033'), std::string::npos) << "an empty NO_COLOR asks for nothing";
  const Outcome json = pits(words_of(quick_run + " --json"), {.terminal = true});
  EXPECT_EQ(json.out.find('\033'), std::string::npos) << json.out;
}

TEST(Output, OfARunAsJsonIsALineForEachAgentAndEnvironment) {
  const Scratch scratch;
  const Outcome outcome = pits(joined(words_of(quick_run + " --json"), {"--out", (scratch / "run").string()}));
  const auto lines = json_lines(outcome.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("agent"), "lin-ts");
  EXPECT_EQ(lines[1].at("agent"), "uniform");
  for (const char* key : {"env", "steps", "realizations", "seed", "normalized_regret", "regret", "seconds"}) {
    EXPECT_TRUE(lines[0].contains(key)) << key;
  }
  EXPECT_EQ(outcome.err, "Report: " + (scratch / "run/report.html").string() + "\n");
}

TEST(Output, OfOneRealizationHasNullForItsSpread) {
  const auto lines =
      json_lines(pits(words_of("run --agent uniform --env wheel --steps 9 --realizations 1 --json")).out);
  EXPECT_TRUE(lines.at(0).at("regret").at("std").is_null());
}

TEST(Output, OfASamplingIsATableOrALineForEachRecord) {
  const Scratch scratch;
  const std::string words = "sample --target ring --flow blob --particles 5 --iterations 40";
  const Outcome table = pits(words_of(words), {.directory = scratch.path()});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_EQ(table.err, "");
  EXPECT_TRUE(std::filesystem::exists(scratch / "pits-sample-ring-blob.html"));
  const Outcome json = pits(words_of(words + " --json --out page.html"), {.directory = scratch.path()});
  EXPECT_EQ(json_lines(json.out).size(), 3U);  // 0, 20, 40
  EXPECT_EQ(json.err, "Page: " + (scratch / "page.html").string() + "\n");
  EXPECT_TRUE(std::filesystem::exists(scratch / "page.html"));
}

TEST(Output, OfASamplingIsTheSameAgainAndForEveryFlow) {
  const Scratch scratch;
  for (const char* flow : {"svgd", "dgf", "spos", "sgld"}) {
    const auto words =
        words_of("sample --particles 5 --iterations 20 --json --out page.html --flow " + std::string(flow));
    const Outcome first = pits(words, {.directory = scratch.path()});
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(first.out, pits(words, {.directory = scratch.path()}).out) << flow;
  }
}

// "30% done, 01:25 left", and nothing that moves a cursor.
bool is_progress_line(const std::string& line) {
  int end = 0;
  std::sscanf(line.c_str(), "%*d%% done, %*[0-9:] left%n", &end);
  return end > 0 && static_cast<std::size_t>(end) == line.size();
}

// A run of at least `least` on any machine.
Outcome long_run(std::chrono::duration<double> least, const Surroundings& where = {}) {
  for (int realizations = 200;; realizations *= 2) {
    const auto start = std::chrono::steady_clock::now();
    Outcome outcome = pits(words_of("run --agent lin-ts --env linear --steps 2000 --threads 1 --realizations " +
                                    std::to_string(realizations)),
                           where);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    if (testing::Test::HasFailure() || std::chrono::steady_clock::now() - start > least) return outcome;
  }
}

TEST(Progress, IsPlainLinesOnStderrWhereThereIsNoTerminal) {
  const Outcome outcome = long_run(std::chrono::seconds(3));
  const auto lines = lines_of(outcome.err);
  EXPECT_FALSE(lines.empty());
  EXPECT_LE(lines.size(), 10U);
  for (const std::string& line : lines) {
    EXPECT_TRUE(is_progress_line(line)) << line;
  }
  EXPECT_EQ(outcome.out.find("done,"), std::string::npos);
}

// What a terminal shows in the end of a single line: each \r goes back to its start and writes over it.
std::string shown_in_the_end(const std::string& written) {
  std::string line;
  std::size_t at = 0;
  for (const char c : written) {
    if (c == '\r') {
      at = 0;
      continue;
    }
    line.resize(std::max(line.size(), at + 1), ' ');
    line[at++] = c;
  }
  return line;
}

// "[###...]  30%  01:25 left": the percentage, or −1 for anything else.
int percent_of_bar(const std::string& bar) {
  int percent = -1;
  int end = 0;
  std::sscanf(bar.c_str(), "[%*[#.]] %d%% %*[0-9:-] left %n", &percent, &end);
  return end > 0 && static_cast<std::size_t>(end) == bar.size() ? percent : -1;
}

TEST(Progress, IsABarDrawnOverItselfOnATerminalAndClearedInTheEnd) {
  const Outcome outcome = long_run(std::chrono::seconds(1), {.error_terminal = true});
  ASSERT_TRUE(outcome.err.starts_with('\r')) << outcome.err;
  EXPECT_EQ(outcome.err.find('\n'), std::string::npos) << outcome.err;
  std::vector<int> percents;
  std::istringstream drawn(outcome.err.substr(1));
  for (std::string bar; std::getline(drawn, bar, '\r');) {
    if (bar.find_first_not_of(' ') == std::string::npos) continue;  // the clearing
    percents.push_back(percent_of_bar(bar));
    EXPECT_GE(percents.back(), 0) << bar;
  }
  EXPECT_GE(percents.size(), 3U);  // ten times a second
  EXPECT_TRUE(std::ranges::is_sorted(percents)) << testing::PrintToString(percents);
  EXPECT_LT(percents.front(), 50);
  EXPECT_EQ(percents.back(), 100);
  EXPECT_EQ(shown_in_the_end(outcome.err).find_first_not_of(' '), std::string::npos) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with('\r')) << "the next line must begin at the left";
  EXPECT_EQ(outcome.out.find_first_of("\r\033#"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find(" left"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace pits::test
