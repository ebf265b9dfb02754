// A run directory with a damaged cell: the file is named, and removing it is enough to go on.
#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "experiment/trajectories.h"
#include "pits/experiment/runner.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

void run_all(const Plan& plan, Results& results) {
  run_cells(plan, results, 1, std::atomic<bool>(false), test::no_report);
}

class Damage : public testing::Test {
 protected:
  Damage() : plan({.agents = {"lin-ts"}, .environments = {"wheel"}, .steps = 30, .realizations = 3}) {
    run_all(plan, *resumed());
    whole = test::bytes_of(cell);
  }
  std::unique_ptr<RunDirectory> resumed() { return RunDirectory::resume(scratch / "run", plan, {}); }

  void expect_refused(const std::string& content) {
    test::write_bytes(cell, content);
    const std::string message = test::message_of([&] { resumed(); });
    test::expect_mentions(message, {"'" + cell.string() + "' is damaged: ", "remove it"});
    EXPECT_EQ(message.find('\n'), std::string::npos);
    test::expect_mentions(test::message_of([&] { RunDirectory::open(scratch / "run", plan); }), {cell.string()});
  }
  // The same cell with one key changed.
  std::string with(const std::string& key, const Json& value) const {
    Json changed = Json::parse(whole);
    changed.at(key) = value;
    return changed.dump();
  }

  const test::Scratch scratch;
  const Plan plan;
  const std::filesystem::path cell = scratch / "run/cells/000001.json";
  std::string whole;
};

TEST_F(Damage, TruncationIsFoundAtEveryLength) {
  for (std::size_t length = 0; length + 2 < whole.size(); length += 13) expect_refused(whole.substr(0, length));
}

TEST_F(Damage, BytesThatAreNoJsonAreFound) {
  expect_refused("not json");
  expect_refused(whole + "{}");
  expect_refused("line one\nline two\n");
  expect_refused(std::string("\x00\xff\x01", 3));
}

TEST_F(Damage, JsonThatIsNoCellIsFound) {
  for (const char* text : {"null", "[]", "{}", "3", R"({"rounds": "30"})"}) expect_refused(text);
}

TEST_F(Damage, ACellWithOnePartWrongIsFound) {
  expect_refused(with("rounds", 31));
  expect_refused(with("rounds", -1));
  expect_refused(with("regret", nullptr));
  expect_refused(with("pulls", "none"));
  expect_refused(with("curve", Json::array({1.0})));
  expect_refused(with("curve", std::vector<double>(100000, 1.0)));
  Json without = Json::parse(whole);
  without.erase("uniform_regret");
  expect_refused(without.dump());
}

TEST_F(Damage, ACellOfAnotherPlaceIsFound) {
  expect_refused(test::bytes_of(scratch / "run/cells/000002.json"));
  expect_refused(with("agent", "uniform"));
  expect_refused(with("env", "linear"));
  expect_refused(with("realization", 0));
}

TEST_F(Damage, ADamagedTimingIsNamedToo) {
  const auto timing = scratch / "run/timings/000001.json";
  for (const char* text : {"", "{", "[]", "{}", R"({"seconds": null})"}) {
    test::write_bytes(timing, text);
    test::expect_mentions(test::message_of([&] { resumed(); }), {timing.string(), "is damaged"});
  }
  std::filesystem::remove(timing);
  EXPECT_TRUE(std::isnan(resumed()->get(1).seconds));
}

TEST_F(Damage, IsHealedByRemovingTheFile) {
  expect_refused(whole.substr(0, 20));
  std::filesystem::remove(cell);
  const auto directory = resumed();
  EXPECT_TRUE(directory->has(0));
  EXPECT_FALSE(directory->has(1));
  run_all(plan, *directory);
  EXPECT_EQ(test::bytes_of(cell), whole);
}

}  // namespace
}  // namespace pits
