// Bad input gets one clear line, the documented exit code, and nothing written.
#pragma once

#include <gtest/gtest.h>

#include <ostream>

#include "cli/process.h"
#include "cli/words.h"
#include "experiment/scratch.h"

namespace pits::test {

constexpr int failed_while_working = 1;
constexpr int wrong_usage = 2;
constexpr int bad_data_or_config = 3;

struct BadInput {
  std::string name;
  std::string words;  // DIR is a scratch directory; run and sample get an --out in it where they have none
  int exit_code;
  std::vector<std::string> mentions;  // the thing at fault, and what would be right
  std::string toml = {};              // content of DIR/config.toml
  std::map<std::string, std::optional<std::string>> environment = {};
};

inline void PrintTo(const BadInput& bad, std::ostream* out) { *out << bad.words; }

inline std::string name_of(const testing::TestParamInfo<BadInput>& info) { return info.param.name; }

inline void expect_one_clear_line(const Outcome& outcome, int exit_code, const std::vector<std::string>& mentions) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("pits: ")) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with("\n")) << outcome.err;
  EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
  for (const std::string& part : mentions) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << "no \"" << part << "\" in: " << outcome.err;
  }
}

inline void expect_refused(const BadInput& bad) {
  const Scratch scratch;
  std::vector<std::string> words;
  bool has_out = false;
  for (std::string word : words_of(bad.words)) {
    has_out = has_out || word == "--out" || word == "--resume";
    if (word.starts_with("DIR")) word = scratch.path().string() + word.substr(3);
    words.push_back(word);
  }
  if (!bad.toml.empty()) write_bytes(scratch / "config.toml", bad.toml);
  const std::set<std::string> before = names_in(scratch.path());
  if (!has_out && (words.at(0) == "run" || words.at(0) == "sample")) {
    words.insert(words.begin() + 1, {"--out", (scratch / "out").string()});
  }
  const Outcome outcome = pits(words, {.directory = scratch.path(), .environment = bad.environment});
  expect_one_clear_line(outcome, bad.exit_code, bad.mentions);
  EXPECT_EQ(names_in(scratch.path()), before) << "something was written";
}

}  // namespace pits::test
