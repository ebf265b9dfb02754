// A run directory with a damaged cell: the file is named, and removing it is enough to go on.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "experiment/trajectories.h"
#include "pits/core/io/sha256.h"
#include "pits/experiment/ranks/executor.h"
#include "pits/experiment/run_cell.h"

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
  // The same cell with one key changed, and the checksum that belongs to it: {...,"sha256":"HEX"}.
  std::string with(const std::string& key, const Json& value) const {
    Json changed = Json::parse(whole);
    changed.at(key) = value;
    return resealed(changed);
  }
  static std::string resealed(Json cell) {
    cell.erase("sha256");
    std::string text = cell.dump();
    text.pop_back();
    Sha256 sha;
    sha.add(text);
    return fmt::format("{},\"sha256\":\"{:02x}\"}}\n", text, fmt::join(sha.finish(), ""));
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
  expect_refused(with("rounds", 0));
  Json without = Json::parse(whole);
  without.erase("uniform_regret");
  expect_refused(resealed(without));
}

TEST_F(Damage, ResealingAChangedCellIsWhatThePartsAreTestedWith) {
  EXPECT_EQ(resealed(Json::parse(whole)), whole);
  test::write_bytes(cell, with("regret", 1.5));
  EXPECT_EQ(resumed()->get(1).regret, 1.5);
}

TEST_F(Damage, EveryFlippedBitIsFound) {
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string flipped = whole;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << byte % 8));
    test::write_bytes(cell, flipped);
    EXPECT_THROW(resumed(), Error) << "byte " << byte << " of " << whole;
  }
}

TEST_F(Damage, EveryEditedNumberIsFound) {
  for (const char* key : {"regret", "uniform_regret", "normalized_regret"}) {
    Json edited = Json::parse(whole);
    edited.at(key) = edited.at(key).get<double>() + 1.0;
    expect_refused(edited.dump() + "\n");
  }
  expect_refused(Json::parse(whole).dump(1));
  std::string twice = whole;
  expect_refused(twice.insert(1, "\"regret\":0.0,"));
}

// run.json was removed, and a run with another seed began there.
TEST_F(Damage, CellsOfAnotherRunAreComputedAgain) {
  std::filesystem::remove(scratch / "run/run.json");
  const Plan other({.agents = {"lin-ts"}, .environments = {"wheel"}, .steps = 30, .realizations = 3, .seed = 1});
  const auto begun = [&] { return RunDirectory::resume(scratch / "run", other, {}); };
  begun()->put(0, run_cell(other, other.cell(0), test::no_report));
  const auto directory = begun();
  EXPECT_TRUE(directory->has(0));
  EXPECT_FALSE(directory->has(1));
  EXPECT_FALSE(directory->has(2));
  run_all(other, *directory);
  MemoryResults undisturbed(other);
  run_all(other, undisturbed);
  for (std::size_t i = 0; i < 3; ++i) test::expect_same(directory->get(i), undisturbed.get(i));
}

// Too many open files, no right to read: the data may be good, so nobody is told to remove them.
TEST_F(Damage, AFileThatCannotBeReadIsNotCalledDamaged) {
  std::filesystem::remove(cell);
  std::filesystem::create_directory(cell);
  const std::string message = test::message_of([&] { resumed(); });
  test::expect_mentions(message, {"cannot read '" + cell.string() + "'"});
  EXPECT_EQ(message.find("remove"), std::string::npos) << message;
}

TEST_F(Damage, WhatAKilledProcessLeftIsRemovedAlsoBeforeThereIsARun) {
  std::filesystem::create_directory(scratch / "new");
  test::write_bytes(scratch / "new/origin.json.123-0.tmp", "{");
  RunDirectory::create(scratch / "new", plan, {});
  EXPECT_FALSE(std::filesystem::exists(scratch / "new/origin.json.123-0.tmp"));
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
