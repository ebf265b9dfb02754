// Problems from files, through the program.
#include <gtest/gtest.h>

#include "cli/bad_input.h"
#include "cli/run_directory.h"

namespace pits::test {
namespace {

class OwnFile : public testing::Test {
 protected:
  std::string file(const std::string& content, const std::string& name = "own.csv") const {
    write_bytes(scratch / name, content);
    return (scratch / name).string();
  }
  Outcome run(const std::vector<std::string>& words) const {
    // A home of its own: only the data that comes with pits is found.
    return pits(joined(words_of("run --agent uniform --steps 20 --realizations 2"), words),
                {.directory = scratch.path(),
                 .environment = {{"PITS_DATA", std::nullopt}, {"XDG_CACHE_HOME", scratch.path().string()}}});
  }
  const Scratch scratch;
};

const std::string good = "x,kind\n1,a\n2,b\n3,a\n4,b\n";

TEST_F(OwnFile, RunsByItsLabel) {
  const Outcome outcome = run({"--env", "csv:" + file(good), "--label", "kind", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(json_lines(outcome.out).at(0).at("env"), "csv:" + (scratch / "own.csv").string());
  EXPECT_EQ(run({"--env", "csv:own.csv,label=2", "--categorical", "x"}).exit_code, 0);
  EXPECT_EQ(run({"--env", "csv", "--set-env", "csv.file=own.csv", "--label", "kind"}).exit_code, 0);
}

TEST_F(OwnFile, RunsByItsRewards) {
  EXPECT_EQ(run({"--env", "rewards:" + file("x,reward_1,reward_2\n1,0,1\n2,1,0\n")}).exit_code, 0);
  EXPECT_EQ(run({"--env", "rewards:own.csv,actions=2"}).exit_code, 0);
}

std::string many_rows(const std::string& odd, const std::string& colour = "") {
  std::string text = colour.empty() ? "age,kind\n" : "age,colour,kind\n";
  for (int i = 0; i < 40; ++i) {
    const std::string middle = colour.empty() ? "" : (i % 2 == 0 ? "red," : colour + ",");
    text += (i == 9 ? odd : std::to_string(i)) + "," + middle + (i % 3 == 0 ? "a" : "b") + "\n";
  }
  return text;
}

TEST_F(OwnFile, SaysWhichColumnsBecameCategories) {
  file(many_rows("9", "blue"));
  const std::string out = (scratch / "run").string();
  const Outcome outcome = run({"--env", "csv:own.csv", "--label", "kind", "--out", out});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("csv:own.csv: one-hot columns: 'colour' (2 levels)\n"), std::string::npos) << outcome.out;
  EXPECT_EQ(nlohmann::json::parse(bytes_of(scratch / "run/run.json"))["environments"][0]["remark"],
            "one-hot columns: 'colour' (2 levels)");
  EXPECT_EQ(run({"--env", "csv:own.csv", "--label", "kind", "--set-env", "drop=colour"}).out.find("one-hot"),
            std::string::npos);
}

// 39 of 40 ages are numbers; as a category the column would have 40 levels.
TEST_F(OwnFile, OneOddFieldAmongNumbersIsOneClearLine) {
  const std::vector<std::string> words = {"--env", "csv:" + file(many_rows("N/A")), "--label", "kind"};
  expect_one_clear_line(run(words), bad_data_or_config,
                        {"own.csv', line 11", "'N/A'", "'age'", "39 of 40", "categorical=auto+age"});
  EXPECT_EQ(run(joined(words, {"--categorical", "auto+age"})).exit_code, 0);
  file(many_rows(std::string(1'000'000, 'x')));
  const Outcome long_field = run(words);
  expect_one_clear_line(long_field, bad_data_or_config, {"xxx...' (1000000 bytes)"});
  EXPECT_LT(long_field.err.size(), 1000U);
}

TEST_F(OwnFile, APipeIsOneClearLine) {
  file(good);
  file("x,reward_1,reward_2\n1,0,1\n2,1,0\n", "rewards.csv");
  const auto piped = [&](const std::string& from, const std::vector<std::string>& words) {
    const std::string script = "cat '" + (scratch / from).string() + "' | \"$@\"";
    return pits(joined({"run", "--agent", "uniform"}, words), {.through = {"/bin/bash", "-c", script, "bash"}});
  };
  expect_one_clear_line(piped("own.csv", {"--env", "csv:/dev/stdin", "--label", "kind"}), bad_data_or_config,
                        {"'/dev/stdin'", "pipe", "save it to a file"});
  expect_one_clear_line(piped("rewards.csv", {"--env", "rewards:/dev/stdin"}), bad_data_or_config, {"pipe"});
}

TEST_F(OwnFile, AReportNeedsNoFile) {
  const std::string out = (scratch / "run").string();
  ASSERT_EQ(run({"--env", "csv:" + file(good), "--label", "kind", "--out", out}).exit_code, 0);
  std::filesystem::remove(scratch / "own.csv");
  const Outcome report = pits({"report", out});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_NE(report.out.find("uniform"), std::string::npos);
}

TEST_F(OwnFile, OtherDataIsNotResumed) {
  const std::string out = (scratch / "run").string();
  const std::vector<std::string> words = {"--env", "csv:" + file(good), "--label", "kind", "--out", out, "--resume"};
  ASSERT_EQ(run(words).exit_code, 0);
  file("x,kind\n1,a\n2,b\n3,a\n4,a\n");
  expect_one_clear_line(run(words), bad_data_or_config, {"different run", "data_sha256"});
}

TEST_F(OwnFile, WhatIsWrongWithItIsOneClearLine) {
  const auto refused = [&](const std::vector<std::string>& words, const std::vector<std::string>& mentions) {
    expect_one_clear_line(run(words), bad_data_or_config, mentions);
  };
  refused({"--env", "csv:absent.csv", "--label", "kind"}, {"'absent.csv'", "no such file"});
  refused({"--env", "csv:" + scratch.path().string(), "--label", "kind"}, {"is a directory"});
  refused({"--env", "csv:"}, {"'csv:'"});
  refused({"--env", "csv", "--label", "kind"}, {"no file given"});
  refused({"--env", "csv:" + file(good)}, {"no label given", "--label"});
  refused({"--env", "csv:own.csv", "--label", "kid"}, {"'own.csv'", "'kid'", "did you mean 'kind'"});
  refused({"--env", "wheel", "--label", "kind"}, {"label=kind"});
  refused({"--env", "csv:" + file(""), "--label", "kind"}, {"no rows"});
  refused({"--env", "csv:" + file("x,kind\n1,a\n2\n"), "--label", "kind"}, {"own.csv', line 3", "1 fields"});
  refused({"--env", "csv:" + file("x,kind\n1,a\n\"2,b\n"), "--label", "kind"}, {"own.csv', line 3", "quote"});
  refused({"--env", "csv:" + file("x,kind\n1,a\n2,a\n"), "--label", "kind"}, {"one class only"});
  refused({"--env", "csv:" + file("\x1f\x8b\x08 no gzip"), "--label", "kind"}, {"own.csv'"});
  refused({"--env", "rewards:" + file(good)}, {"own.csv'", "reward_*"});
  refused({"--env", "csv:" + file("\xFF\xFEx"), "--label", "kind"}, {"own.csv' is UTF-16", "UTF-8"});
  refused({"--env", "csv:" + file("x,kind\n1,5,a\n"), "--label", "kind"}, {"own.csv', line 2", "3 fields, but 2"});
}

TEST_F(OwnFile, DataOfTheBenchmarkThatIsNotThereOrDamagedIsOneClearLine) {
  const auto refused = [&](const std::vector<std::string>& words, const std::vector<std::string>& mentions) {
    expect_one_clear_line(run(words), bad_data_or_config, mentions);
  };
  const std::string here = scratch.path().string();
  refused({"--env", "covertype"}, {"covtype.data", "https://"});
  refused({"--env", "statlog", "--data-dir", here + "/absent"}, {here + "/absent"});
  file("50 21 77 0 28 0 27 48 22 2\n", "shuttle.trn");
  refused({"--env", "statlog", "--data-dir", here}, {here + "/shuttle.trn'", "sha256"});
  file("\x93NUMPY no array", "jester_data_40jokes_19181users.npy");
  refused({"--env", "jester", "--data-dir", here}, {"jester_data_40jokes_19181users.npy'", "not a NumPy array"});
  file(std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x01\x02", 12), "covtype.data.gz");
  refused({"--env", "covertype", "--data-dir", here}, {"covtype.data.gz'"});
}

}  // namespace
}  // namespace pits::test
