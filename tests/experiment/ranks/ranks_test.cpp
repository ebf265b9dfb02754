#include "pits/experiment/ranks/coordinator.h"

#include <gtest/gtest.h>

#include <set>

#include "experiment/expect_error.h"
#include "experiment/ranks/threads_as_ranks.h"
#include "experiment/trajectories.h"
#include "pits/core/parallel.h"

namespace pits {
namespace {

using test::expect_mentions;
using test::on_ranks;

const std::atomic<bool> go_on = false;

ExperimentConfig config_of(std::vector<std::string> agents) {
  return {.agents = std::move(agents), .environments = {"linear"}, .steps = 130, .realizations = 8};
}

// Every rank builds its own plan, as processes do.
void run_on(Executor& executor, const ExperimentConfig& config, MemoryResults& results, int threads = 1,
            const std::atomic<bool>& stop = go_on, const RoundsDone& done = test::no_report) {
  const Plan plan(config);
  executor.run(plan, executor.leads() ? &results : nullptr, threads, stop, done);
}

void expect_like_one_process(const ExperimentConfig& config, const MemoryResults& results) {
  const Plan plan(config);
  MemoryResults expected(plan);
  run_cells(plan, expected, 1, go_on, test::no_report);
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    ASSERT_TRUE(results.has(i)) << i;
    test::expect_same(results.get(i), expected.get(i));
  }
}

std::size_t finished(const MemoryResults& results, std::size_t cells) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < cells; ++i) n += results.has(i) ? 1 : 0;
  return n;
}

// Only the leader has something to say.
void expect_status(const std::vector<ExitStatus>& statuses, int exit_code, const std::vector<std::string>& mentions) {
  EXPECT_EQ(statuses.at(0).exit_code, exit_code) << statuses[0].message;
  expect_mentions(statuses[0].message, mentions);
  for (std::size_t rank = 1; rank < statuses.size(); ++rank) {
    EXPECT_EQ(statuses[rank].exit_code, 0);
    EXPECT_EQ(statuses[rank].message, "");
  }
}

TEST(Ranks, GiveTheSameBitsAsOneProcess) {
  ExperimentConfig config = config_of({"lin-ts", "pi-ts,particles=3,hidden=4,batch=8,train_every=20,train_steps=2"});
  config.probe = "posterior";
  config.diagnostics = true;
  config.steps = 90;
  config.realizations = 3;
  for (const int ranks : {1, 2, 5, 20}) {  // also more than there are cells
    for (const int threads : {0, 2}) {
      MemoryResults results{Plan(config)};
      expect_status(on_ranks(ranks, [&](Executor& e, int) { run_on(e, config, results, threads); }), 0, {});
      expect_like_one_process(config, results);
    }
  }
}

TEST(Ranks, ReportEveryRoundAndComputeNoCellTwice) {
  const ExperimentConfig config = config_of({"uniform"});
  MemoryResults results{Plan(config)};
  Trajectory kept;
  kept.regret = 42.0;
  results.put(3, kept);
  std::atomic<std::size_t> rounds = 0;
  on_ranks(3,
           [&](Executor& e, int) { run_on(e, config, results, 1, go_on, [&](std::size_t done) { rounds += done; }); });
  EXPECT_EQ(rounds, 7U * 130U);
  EXPECT_EQ(results.get(3).regret, 42.0);
  EXPECT_EQ(finished(results, 8), 8U);
}

TEST(Ranks, RunSeveralPlansOneAfterAnother) {
  const ExperimentConfig first = config_of({"uniform"}), second = config_of({"lin-ts"});
  MemoryResults a{Plan(first)}, b{Plan(second)};
  const auto statuses = on_ranks(4, [&](Executor& e, int) {
    run_on(e, first, a);
    run_on(e, second, b);
  });
  expect_status(statuses, 0, {});
  expect_like_one_process(first, a);
  expect_like_one_process(second, b);
}

// Notes on how many threads the agent of each realization may work.
struct CountingRecipe final : Recipe<Agent, AgentSetup> {
  explicit CountingRecipe(std::vector<std::atomic<int>>& a) : allowed(a) {}
  Fields fields() override { return {}; }
  std::unique_ptr<Agent> make(const AgentSetup& setup) const override {
    allowed.at(setup.realization) = inner_threads();
    return find_recipe(agent_catalogue(), "agent", parse_spec("uniform"))->make(setup);
  }
  std::vector<std::atomic<int>>& allowed;
};

// 3 cells, 2 ranks of 4 threads: two cells on one rank with 2 threads each, one on the other with 4.
TEST(Ranks, FewCellsGetSeveralThreadsEach) {
  ExperimentConfig config = config_of({"counting"});
  config.realizations = 3;
  std::vector<std::atomic<int>> allowed(3);
  Catalogues catalogues;
  catalogues.agents.push_back(
      {"counting", "", {}, [&](std::string_view) { return std::make_unique<CountingRecipe>(allowed); }});
  const auto counts = [&](int ranks, int threads) {
    MemoryResults results{Plan(config, catalogues)};
    expect_status(on_ranks(ranks,
                           [&](Executor& e, int) {
                             const Plan plan(config, catalogues);
                             e.run(plan, e.leads() ? &results : nullptr, threads, go_on, test::no_report);
                           }),
                  0, {});
    return std::multiset<int>(allowed.begin(), allowed.end());
  };
  EXPECT_EQ(counts(2, 4), (std::multiset<int>{2, 2, 4}));
  EXPECT_EQ(counts(3, 4), (std::multiset<int>{4, 4, 4}));
  EXPECT_EQ(counts(1, 7), (std::multiset<int>{2, 2, 2}));
  EXPECT_EQ(counts(2, 1), (std::multiset<int>{1, 1, 1}));
}

TEST(Ranks, TheErrorOfACellIsSaidOnceFromAnyRank) {
  const ExperimentConfig config = config_of({"uniform", "bernoulli-ts"});
  for (const int ranks : {1, 3}) {
    MemoryResults results{Plan(config)};
    const auto statuses = on_ranks(ranks, [&](Executor& e, int) { run_on(e, config, results); });
    expect_status(statuses, 3, {"agent 'bernoulli-ts' on 'linear', realization", "rewards in 0..1"});
    EXPECT_EQ(statuses[0].message.find("agent"), 0U) << "as one process says it";
  }
}

TEST(Ranks, TheSameErrorOfAllIsSaidOnce) {
  const auto statuses = on_ranks(3, [&](Executor&, int) { throw bad_usage("all are wrong"); });
  expect_status(statuses, 2, {"all are wrong"});
  EXPECT_EQ(statuses[0].message, "all are wrong");
}

TEST(Ranks, AnErrorBeforeThePlanNamesItsRank) {
  const ExperimentConfig config = config_of({"uniform"});
  MemoryResults results{Plan(config)};
  const auto statuses = on_ranks(4, [&](Executor& e, int rank) {
    if (rank == 2) throw bad_input("no file here");
    run_on(e, config, results);
  });
  expect_status(statuses, 3, {"rank 2 on here: no file here"});
  EXPECT_EQ(finished(results, 8), 0U);
}

TEST(Ranks, AnErrorOfTheLeaderBeforeThePlanEndsAll) {
  const ExperimentConfig config = config_of({"uniform"});
  MemoryResults results{Plan(config)};
  const auto statuses = on_ranks(3, [&](Executor& e, int) {
    if (e.leads()) throw bad_input("the directory holds a run");
    run_on(e, config, results);
  });
  expect_status(statuses, 3, {"the directory holds a run"});
}

TEST(Ranks, AnErrorAfterThePlanIsSaid) {
  const ExperimentConfig config = config_of({"uniform"});
  for (const int faulty : {0, 2}) {
    MemoryResults results{Plan(config)};
    const auto statuses = on_ranks(3, [&](Executor& e, int rank) {
      run_on(e, config, results);
      if (rank == faulty) throw failed("no room on the disk");
    });
    expect_status(statuses, 1, {"no room on the disk"});
  }
}

TEST(Ranks, AnotherPlanIsRefusedWithTheDifference) {
  const ExperimentConfig config = config_of({"uniform"});
  MemoryResults results{Plan(config)};
  const auto statuses = on_ranks(3, [&](Executor& e, int rank) {
    ExperimentConfig mine = config;
    mine.seed = rank == 1 ? 7 : 0;
    run_on(e, mine, results);
  });
  expect_status(statuses, 3, {"rank 1 on here", "seed is 7 there and 0 now"});
  EXPECT_EQ(finished(results, 8), 0U);
}

TEST(Ranks, ResultsThatCannotBeKeptEndAll) {
  const ExperimentConfig config = config_of({"uniform"});
  const Plan plan(config);
  class Full final : public Results {
   public:
    bool has(std::size_t) const override { return false; }
    Trajectory get(std::size_t) const override { return {}; }
    void put(std::size_t, const Trajectory&) override { throw bad_input("no space left"); }
  } full;
  const auto statuses =
      on_ranks(3, [&](Executor& e, int) { e.run(plan, e.leads() ? &full : nullptr, 1, go_on, test::no_report); });
  expect_status(statuses, 3, {"no space left"});
}

// The stop flag of any rank ends the work of all; finished cells are kept and the rest comes out the same later.
TEST(Ranks, StopOnOneStopsAllAndKeepsWhatIsFinished) {
  ExperimentConfig config = config_of({"lin-ts"});
  config.steps = 100'000;
  for (const int signalled : {0, 1}) {
    MemoryResults results{Plan(config)};
    std::vector<std::atomic<bool>> stop(3);
    std::atomic<bool> interrupted = false;
    const auto stop_later = [&](std::size_t) { stop[static_cast<std::size_t>(signalled)] = true; };
    on_ranks(3, [&](Executor& e, int rank) {
      try {
        run_on(e, config, results, 1, stop[static_cast<std::size_t>(rank)], stop_later);
      } catch (const Interrupted&) {
        interrupted = e.leads();
      }
    });
    EXPECT_TRUE(interrupted);
    EXPECT_LT(finished(results, 8), 8U);
  }
}

TEST(Ranks, StoppedBeforeTheyStartComputeNothing) {
  const ExperimentConfig config = config_of({"uniform"});
  MemoryResults results{Plan(config)};
  on_ranks(3, [&](Executor& e, int) { EXPECT_ANY_THROW(run_on(e, config, results, 1, std::atomic<bool>(true))); });
  EXPECT_EQ(finished(results, 8), 0U);
}

TEST(Ranks, RefuseANegativeNumberOfThreads) {
  const ExperimentConfig config = config_of({"uniform"});
  MemoryResults results{Plan(config)};
  expect_status(on_ranks(2, [&](Executor& e, int) { run_on(e, config, results, -1); }), 3, {"threads", "-1"});
}

}  // namespace
}  // namespace pits
