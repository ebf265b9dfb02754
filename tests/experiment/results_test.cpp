#include "pits/experiment/results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "experiment/trajectories.h"
#include "pits/experiment/ranks/executor.h"

namespace pits {
namespace {

using test::expect_mentions;
using test::message_of;
using test::Scratch;
using Json = nlohmann::ordered_json;

const Json origin = {{"command", "pits run"}, {"machine", "a test"}};

ExperimentConfig small() {
  return {.agents = {"lin-ts", "uniform"}, .environments = {"linear"}, .steps = 40, .realizations = 2, .seed = 5};
}

void run_all(const Plan& plan, Results& results) {
  run_cells(plan, results, 2, std::atomic<bool>(false), test::no_report);
}

TEST(RunDirectory, HoldsTheSameTrajectoriesAsMemory) {
  const Scratch scratch;
  const Plan plan(small());
  MemoryResults memory(plan);
  run_all(plan, memory);
  {
    const auto directory = RunDirectory::create(scratch / "run", plan, origin);
    run_all(plan, *directory);
  }
  const auto again = RunDirectory::open(scratch / "run", plan);
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    ASSERT_TRUE(again->has(i));
    test::expect_same(again->get(i), memory.get(i));
    EXPECT_GE(again->get(i).seconds, 0.0);
  }
}

TEST(RunDirectory, KeepsEveryBitOfANumber) {
  const Scratch scratch;
  ExperimentConfig config = small();
  config.steps = 3;
  const Plan plan(config);
  const Trajectory odd{.rounds = 3,
                       .regret = 0.1 + 0.2,
                       .uniform_regret = 5e-324,
                       .curve = {-1.7976931348623157e308, 1.0 / 3.0, 2.2250738585072011e-308},
                       .pulls = {18446744073709551615U, 0, 1},
                       .seconds = 0.25};
  const auto directory = RunDirectory::create(scratch / "run", plan, origin);
  directory->put(1, odd);
  EXPECT_FALSE(directory->has(0));
  ASSERT_TRUE(directory->has(1));
  test::expect_same(directory->get(1), odd);
  EXPECT_EQ(directory->get(1).seconds, 0.25);
}

TEST(RunDirectory, WritesCellsWholeAndLeavesNoOtherFile) {
  const Scratch scratch;
  const Plan plan(small());
  const auto directory = RunDirectory::create(scratch / "run", plan, origin);
  run_all(plan, *directory);
  const std::set<std::string> cells = {"000000.json", "000001.json", "000002.json", "000003.json"};
  EXPECT_EQ(test::names_in(scratch / "run/cells"), cells);
  EXPECT_EQ(test::names_in(scratch / "run/timings"), cells);
  directory->collect();
  EXPECT_EQ(test::names_in(scratch / "run"), (std::set<std::string>{".lock", "cells", "curves.npy", "origin.json",
                                                                    "results.jsonl", "run.json", "timings"}));
}

TEST(RunDirectory, RemembersConfigAndOrigin) {
  const Scratch scratch;
  const Plan plan(small());
  RunDirectory::create(scratch / "run", plan, origin);
  EXPECT_EQ(read_resolved(scratch / "run"), plan.resolved());
  EXPECT_EQ(read_json_file(scratch / "run/origin.json", ""), origin);
}

TEST(RunDirectory, AcceptsACommandThatIsNotUtf8) {
  const Scratch scratch;
  RunDirectory::create(scratch / "run", Plan(small()), {{"command", "pits --out \xff"}, {"machine", ""}});
  EXPECT_EQ(read_json_file(scratch / "run/origin.json", "")["command"], "pits --out \xEF\xBF\xBD");
}

TEST(RunDirectory, CreatesOnlyWhereThereIsNoRun) {
  const Scratch scratch;
  const Plan plan(small());
  RunDirectory::create(scratch / "run", plan, origin);
  expect_mentions(message_of([&] { RunDirectory::create(scratch / "run", plan, origin); }),
                  {(scratch / "run").string(), "already holds a run", "--resume"});
  test::write_bytes(scratch / "file", "");
  expect_mentions(message_of([&] { RunDirectory::create(scratch / "file", plan, origin); }),
                  {(scratch / "file").string(), "not a directory"});
}

TEST(RunDirectory, IsOpenToOneAtATime) {
  const Scratch scratch;
  const Plan plan(small());
  const auto held = RunDirectory::create(scratch / "run", plan, origin);
  expect_mentions(message_of([&] { RunDirectory::resume(scratch / "run", plan, origin); }), {"in use by another pits"});
  expect_mentions(message_of([&] { RunDirectory::open(scratch / "run", plan); }), {"in use by another pits"});
}

TEST(RunDirectory, ResumesOnlyTheSameRunAndNamesTheDifference) {
  const Scratch scratch;
  RunDirectory::create(scratch / "run", Plan(small()), origin);
  const auto resumed_with = [&](auto&& change) {
    ExperimentConfig config = small();
    change(config);
    const Plan plan(config);
    return message_of([&] { RunDirectory::resume(scratch / "run", plan, origin); });
  };
  expect_mentions(resumed_with([](auto& c) { c.seed = 6; }), {"seed is 5 there and 6 now", "different run"});
  expect_mentions(resumed_with([](auto& c) { c.steps = 41; }), {"steps is 40 there and 41 now"});
  expect_mentions(resumed_with([](auto& c) { c.realizations = 3; }), {"realizations is 2 there and 3 now"});
  expect_mentions(resumed_with([](auto& c) { c.set = {"lin-ts.lambda=0.5"}; }),
                  {"agents/0/fields/lambda is \"0.25\" there and \"0.5\" now"});
  expect_mentions(resumed_with([](auto& c) { c.agents = {"lin-ts", "gaussian-ts"}; }), {"agents/1"});
  expect_mentions(resumed_with([](auto& c) { c.agents.push_back("gaussian-ts"); }), {"agents"});
  expect_mentions(resumed_with([](auto& c) { c.agents.pop_back(); }), {"agents/1", "absent now"});
  expect_mentions(resumed_with([](auto& c) { c.environments = {"wheel"}; }), {"environments/0"});
}

TEST(RunDirectory, ResumesOnlyWithTheSameVersionAndSimdTarget) {
  const Scratch scratch;
  const Plan plan(small());
  for (const char* key : {"version", "simd"}) {
    RunDirectory::create(scratch / key, plan, origin);
    Json other = plan.resolved();
    other[key] = "other";
    test::write_bytes(scratch / key / "run.json", other.dump());
    expect_mentions(message_of([&] { RunDirectory::resume(scratch / key, plan, origin); }),
                    {std::string(key) + " is \"other\" there and"});
  }
}

TEST(RunDirectory, RefusesARunFileThatIsDamaged) {
  const Scratch scratch;
  const Plan plan(small());
  RunDirectory::create(scratch / "run", plan, origin);
  for (const char* text : {"", "{", "null", "[1]", "{\"seed\": 5", "{}"}) {
    test::write_bytes(scratch / "run/run.json", text);
    expect_mentions(message_of([&] { RunDirectory::resume(scratch / "run", plan, origin); }),
                    {(scratch / "run").string()});
  }
}

TEST(RunDirectory, CollectsLinesAndCurvesInTheOrderOfTheCells) {
  const Scratch scratch;
  ExperimentConfig config = small();
  config.steps = 3;
  config.agents = {"uniform"};
  const Plan plan(config);
  const auto directory = RunDirectory::create(scratch / "run", plan, origin);
  directory->put(1, {.rounds = 2, .regret = 8.0, .uniform_regret = 4.0, .curve = {7.0, 8.0}, .pulls = {2, 0}});
  directory->put(0, {.rounds = 3, .regret = 3.0, .uniform_regret = 4.0, .curve = {1.0, 2.0, 3.0}, .pulls = {0, 3}});
  directory->collect();

  EXPECT_EQ(test::bytes_of(scratch / "run/results.jsonl"),
            R"({"cell":0,"agent":"uniform","env":"linear","realization":0,"rounds":3,"regret":3.0,)"
            R"("uniform_regret":4.0,"normalized_regret":75.0,"pulls":[0,3]})"
            "\n"
            R"({"cell":1,"agent":"uniform","env":"linear","realization":1,"rounds":2,"regret":8.0,)"
            R"("uniform_regret":4.0,"normalized_regret":200.0,"pulls":[2,0]})"
            "\n");
  const std::string npy = test::bytes_of(scratch / "run/curves.npy");
  EXPECT_NE(npy.find("(2, 3)"), std::string::npos);
  double values[6];
  ASSERT_EQ(npy.size(), 128 + sizeof values);
  std::memcpy(values, npy.data() + 128, sizeof values);
  EXPECT_EQ(std::vector<double>(values, values + 5), (std::vector<double>{1.0, 2.0, 3.0, 7.0, 8.0}));
  EXPECT_TRUE(std::isnan(values[5])) << "a problem that ends early has no regret afterwards";
}

}  // namespace
}  // namespace pits
