#include "pits/experiment/ranks/executor.h"

#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "experiment/trajectories.h"

namespace pits {
namespace {

using test::expect_mentions;
using test::message_of;

const std::atomic<bool> go_on = false;

Plan plan_of(std::vector<std::string> agents) {
  return Plan({.agents = std::move(agents), .environments = {"linear"}, .steps = 130, .realizations = 8});
}

TEST(RunCells, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Plan plan = plan_of({"lin-ts", "pi-ts,particles=3,hidden=4,batch=8,train_every=20,train_steps=2"});
  MemoryResults one(plan), three(plan);
  run_cells(plan, one, 1, go_on, test::no_report);
  run_cells(plan, three, 3, go_on, test::no_report);
  for (std::size_t i = 0; i < plan.cells(); ++i) test::expect_same(one.get(i), three.get(i));
}

// More threads than cells: the particles of a cell are spread over those that are left.
TEST(RunCells, OneCellOnManyThreadsGivesTheSameBits) {
  const Plan plan({.agents = {"pi-ts,particles=5,hidden=4,batch=8,train_every=20,train_steps=2"},
                   .environments = {"linear"},
                   .steps = 130,
                   .realizations = 1});
  MemoryResults one(plan), many(plan);
  run_cells(plan, one, 1, go_on, test::no_report);
  run_cells(plan, many, 4, go_on, test::no_report);
  test::expect_same(one.get(0), many.get(0));
}

TEST(RunCells, ReportsEveryRoundOfTheCellsThatWereOpen) {
  const Plan plan = plan_of({"uniform"});
  MemoryResults results(plan);
  Trajectory kept;
  kept.regret = 42.0;
  results.put(3, kept);
  std::atomic<std::size_t> rounds = 0;
  run_cells(plan, results, 2, go_on, [&](std::size_t done) { rounds += done; });
  EXPECT_EQ(rounds, 7U * 130U);
  EXPECT_EQ(results.get(3).regret, 42.0) << "a finished cell is not computed again";
  for (std::size_t i = 0; i < plan.cells(); ++i) EXPECT_TRUE(results.has(i));
}

TEST(RunCells, StopsAndKeepsWhatIsFinished) {
  const Plan plan = plan_of({"uniform"});
  MemoryResults results(plan);
  std::atomic<bool> stop = false;
  std::size_t rounds = 0;
  const auto stop_in_the_fourth_cell = [&](std::size_t done) { stop = (rounds += done) > 3 * 130; };
  EXPECT_THROW(run_cells(plan, results, 1, stop, stop_in_the_fourth_cell), Interrupted);
  std::size_t finished = 0;
  for (std::size_t i = 0; i < plan.cells(); ++i) finished += results.has(i) ? 1 : 0;
  EXPECT_EQ(finished, 3U);

  run_cells(plan, results, 1, go_on, test::no_report);
  MemoryResults undisturbed(plan);
  run_cells(plan, undisturbed, 1, go_on, test::no_report);
  for (std::size_t i = 0; i < plan.cells(); ++i) test::expect_same(results.get(i), undisturbed.get(i));
}

TEST(RunCells, StoppedBeforeItStartsComputesNothing) {
  const Plan plan = plan_of({"uniform"});
  MemoryResults results(plan);
  EXPECT_THROW(run_cells(plan, results, 2, std::atomic<bool>(true), test::no_report), Interrupted);
  for (std::size_t i = 0; i < plan.cells(); ++i) EXPECT_FALSE(results.has(i));
}

TEST(RunCells, TheErrorOfACellReachesTheCallerFromAnyThread) {
  for (const int threads : {1, 3}) {
    const Plan plan = plan_of({"uniform", "bernoulli-ts"});
    MemoryResults results(plan);
    const auto run = [&] { run_cells(plan, results, threads, go_on, test::no_report); };
    expect_mentions(message_of(run), {"agent 'bernoulli-ts' on 'linear', realization", "rewards in 0..1"});
  }
}

TEST(RunCells, RefusesANegativeNumberOfThreads) {
  const Plan plan = plan_of({"uniform"});
  MemoryResults results(plan);
  expect_mentions(message_of([&] { run_cells(plan, results, -1, go_on, test::no_report); }), {"threads", "-1"});
}

}  // namespace
}  // namespace pits
