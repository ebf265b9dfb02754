// pits data: list, check and fetch, from outside. What needs a real file that does not come with pits is
// skipped where it is not.
#include <gtest/gtest.h>

#include "cli/bad_input.h"
#include "data/server.h"

namespace pits {
namespace {

using test::expect_one_clear_line;
using test::json_lines;
using test::lines_of;
using test::Outcome;
using test::Scratch;
using test::Server;

const std::string stocks = "raw_stock_contexts";  // of the set financial, which does not come with pits

class Data : public testing::Test {
 protected:
  // The program with an empty cache and no $PITS_DATA.
  Outcome data(std::vector<std::string> words, bool terminal = false) {
    words.insert(words.begin(), "data");
    return test::pits(words, {.environment = {{"PITS_DATA", {}}, {"XDG_CACHE_HOME", cache_.path()}, {"no_proxy", "*"}},
                              .error_terminal = terminal});
  }
  // Of all data sets.
  std::size_t files() {
    std::size_t count = 0;
    for (const auto& set : json_lines(data({"list", "--json"}).out)) count += set["files"].size();
    return count;
  }
  std::filesystem::path cached(const std::string& name) const { return cache_ / "pits" / name; }

  Scratch cache_;
};

// The same with real data to serve.
class RealData : public Data {
 protected:
  void SetUp() override {
    const char* given = std::getenv("PITS_DATA");
    if (given == nullptr || !std::filesystem::exists(std::filesystem::path(given) / stocks)) {
      GTEST_SKIP() << "needs " << stocks << " in $PITS_DATA";
    }
    std::filesystem::copy(std::filesystem::path(given) / stocks, served_ / stocks);
  }
  Outcome fetch(const Server& server, bool terminal = false) {
    return data({"fetch", "financial", "--from", server.address(), "--stall-timeout", "1"}, terminal);
  }

  Scratch served_;
};

TEST_F(Data, ListNamesEverySetItsLicenceAndAddress) {
  const Outcome list = data({"list"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  for (const char* part : {"mushroom", "statlog", "covertype", "adult", "census", "financial", "jester", "not here",
                           "CC BY 4.0", "https://archive.ics.uci.edu/", "361.3 MB"}) {
    EXPECT_NE(list.out.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(lines_of(data({"list", "adult"}).out).size(), 3U) << "a heading and two files";
}

TEST_F(Data, ListSaysWhereAFileIsFound) {
  const Scratch given;
  test::write_bytes(given / "shuttle.trn", "");
  const Outcome list = data({"list", "statlog", "financial", "--json", "--data-dir", given.path()});
  const auto sets = json_lines(list.out);
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0]["files"][0]["found"], (given / "shuttle.trn").string());
  EXPECT_TRUE(sets[1]["files"][0]["found"].is_null());
}

TEST_F(Data, HelpOfEachEndsWithAnExampleThatWorks) {
  for (const std::string name : {"list", "fetch", "check"}) {
    const Outcome help = data({name, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    const std::vector<std::string> lines = lines_of(help.out);
    ASSERT_GE(lines.size(), 2U);
    EXPECT_EQ(lines[lines.size() - 2], "Example:");
    std::vector<std::string> example = test::words_of(lines.back());
    ASSERT_GE(example.size(), 3U);
    EXPECT_EQ(example[2], name);
    example.erase(example.begin(), example.begin() + 2);
    if (name != "fetch") {  // which needs the network
      EXPECT_EQ(data(example).exit_code, 0) << lines.back();
    }
  }
}

TEST_F(Data, UnknownNamesAndDirectoriesAreRefused) {
  expect_one_clear_line(data({"list", "mushrom"}), test::bad_data_or_config, {"'mushrom'", "did you mean 'mushroom'?"});
  expect_one_clear_line(data({"check", "--data-dir", "/nowhere"}), test::bad_data_or_config, {"/nowhere"});
  expect_one_clear_line(data({"fetch", "mushroom", "--stall-timeout", "0"}), test::bad_data_or_config,
                        {"--stall-timeout", "not 0"});
  expect_one_clear_line(data({"chekc"}), test::wrong_usage, {"'chekc'", "did you mean 'check'?", "pits data --help"});
  expect_one_clear_line(data({}), test::wrong_usage, {"list, fetch, check"});
  expect_one_clear_line(data({"list", "--jsn"}), test::wrong_usage,
                        {"did you mean '--json'?", "pits data list --help"});
}

// What every user has, without a network: the bytes of the catalogue.
TEST_F(Data, ThreeSetsComeWithTheProgram) {
  const Outcome check = data({"check", "mushroom", "statlog", "adult", "--json"});
  EXPECT_EQ(check.exit_code, 0) << check.err;
  const auto objects = json_lines(check.out);
  ASSERT_EQ(objects.size(), 4U);
  for (const auto& object : objects) {
    EXPECT_EQ(object["state"], "ok");
    EXPECT_EQ(object["remark"], "") << "the whole set";
  }
  EXPECT_EQ(lines_of(data({"fetch", "adult", "--from", "http://127.0.0.1:9"}).out).size(), 2U) << "already here";
}

TEST_F(Data, CheckOfNothingIsFineAndOfAMissingNameIsNot) {
  const Outcome all = data({"check"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(lines_of(all.out).size(), files());
  expect_one_clear_line(data({"check", "financial"}), test::bad_data_or_config,
                        {stocks, "pits data fetch financial", "https://", (cache_ / "pits").string()});
}

TEST_F(Data, CheckNamesEveryBadFileAndTheReason) {
  const Scratch given;
  test::write_bytes(given / "shuttle.trn", "1 2 3\n");
  test::write_bytes(given / "covtype.data.gz", "\x1f\x8b\x08");
  std::filesystem::create_directory(given / "agaricus-lepiota.data");
  const Outcome check = data({"check", "--data-dir", given.path()});
  EXPECT_EQ(check.exit_code, test::bad_data_or_config);
  const auto lines = lines_of(check.err);
  ASSERT_EQ(lines.size(), 3U) << check.err;
  for (const std::string& line : lines) EXPECT_TRUE(line.starts_with("pits: '" + given.path().string())) << line;
  EXPECT_NE(lines[0].find("is a directory"), std::string::npos);
  EXPECT_NE(lines[1].find("6 bytes"), std::string::npos);
  const auto objects = json_lines(data({"check", "--json", "--data-dir", given.path()}).out);
  ASSERT_EQ(objects.size(), files());
  EXPECT_EQ(objects[1]["state"], "bad");
  EXPECT_EQ(objects.back()["state"], "not here");
}

TEST_F(Data, FetchWithoutANetworkNamesTheHomeAndWhereToPutTheFile) {
  const Outcome fetch = data({"fetch", "financial", "--from", "http://127.0.0.1:9"});
  EXPECT_EQ(fetch.exit_code, test::failed_while_working);
  EXPECT_EQ(fetch.out, "");
  const std::string last = lines_of(fetch.err).back();
  for (const std::string& part : {std::string("pits: cannot fetch"), stocks,
                                  std::string("https://storage.googleapis.com/"), (cache_ / "pits").string()}) {
    EXPECT_NE(last.find(part), std::string::npos) << part << " in " << last;
  }
}

TEST_F(RealData, FetchStoresInTheCacheOnceAndCheckIsContent) {
  const Server server(served_.path(), "ok");
  const Outcome first = fetch(server);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "financial: " + cached(stocks).string() + "\n");
  EXPECT_EQ(test::bytes_of(cached(stocks)), test::bytes_of(served_ / stocks));
  const Outcome second = fetch(server);
  EXPECT_EQ(second.out, "financial: already here: " + cached(stocks).string() + "\n");
  EXPECT_EQ(second.err, "");
  EXPECT_EQ(server.requests().size(), 1U);
  const auto checked = json_lines(data({"check", "financial", "--json"}).out);
  EXPECT_EQ(checked.at(0)["state"], "ok");
  EXPECT_EQ(checked.at(0)["bytes"], 1'987'117);
}

TEST_F(RealData, FetchShowsABarOnATerminal) {
  const Server server(served_.path(), "ok");
  const Outcome outcome = fetch(server, true);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("100%"), std::string::npos) << outcome.err;
}

TEST_F(RealData, FetchGoesOnAfterStallAndTruncation) {
  const Server server(served_.path(), "stall,truncate,ok");
  const Outcome outcome = fetch(server);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(test::bytes_of(cached(stocks)), test::bytes_of(served_ / stocks));
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(RealData, FetchOfWrongContentFailsAndKeepsNothing) {
  const Server server(served_.path(), "corrupt");
  const Outcome outcome = fetch(server);
  EXPECT_EQ(outcome.exit_code, test::failed_while_working);
  EXPECT_NE(outcome.err.find("cf468e5aae150dfd5c6b096464cd11e85f8b01198f8e49bedb941948850a6315"), std::string::npos);
  EXPECT_EQ(test::names_in(cache_ / "pits"), std::set<std::string>{".lock"});
}

TEST_F(RealData, FetchFillsTheDirectoryThatItIsGiven) {
  const Server server(served_.path(), "ok");
  const Scratch given;
  const auto fetch_into = [&](const std::filesystem::path& directory) {
    return test::pits(
        {"data", "fetch", "financial", "--from", server.address(), "--data-dir", directory.string()},
        {.environment = {{"PITS_DATA", served_.path()}, {"XDG_CACHE_HOME", cache_.path()}, {"no_proxy", "*"}}});
  };
  const Outcome first = fetch_into(given.path());
  EXPECT_EQ(first.out, "financial: " + (given / stocks).string() + "\n") << first.err;
  EXPECT_EQ(test::bytes_of(given / stocks), test::bytes_of(served_ / stocks));
  EXPECT_EQ(fetch_into(given.path()).out, "financial: already here: " + (given / stocks).string() + "\n");
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(RealData, FetchReplacesADamagedFile) {
  std::filesystem::create_directory(cache_ / "pits");
  test::write_bytes(cached(stocks), "damaged");
  const Server server(served_.path(), "ok");
  const Outcome outcome = fetch(server);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("7 bytes"), std::string::npos) << outcome.err;
  EXPECT_EQ(test::bytes_of(cached(stocks)), test::bytes_of(served_ / stocks));
}

TEST_F(RealData, CtrlCKeepsThePart) {
  const Server server(served_.path(), "stall,ok");
  test::Process process({"data", "fetch", "financial", "--from", server.address()},
                        {.environment = {{"PITS_DATA", {}}, {"XDG_CACHE_HOME", cache_.path()}, {"no_proxy", "*"}}});
  const auto part = cached(stocks + ".part");
  while (!std::filesystem::exists(part) || std::filesystem::file_size(part) == 0) ::usleep(10'000);
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_NE(outcome.err.find("interrupted"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(part));
  EXPECT_EQ(fetch(server).exit_code, 0);
}

}  // namespace
}  // namespace pits
