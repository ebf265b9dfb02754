// Health in cells, run directories and summaries.
#include <gtest/gtest.h>

#include <cmath>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "experiment/trajectories.h"
#include "pits/experiment/diagnostics/health.h"
#include "pits/experiment/ranks/executor.h"
#include "pits/experiment/run_cell.h"
#include "pits/experiment/summary.h"
#include "pits/experiment/trajectory_json.h"

namespace pits::test {
namespace {

using Json = nlohmann::ordered_json;

Json made_up(const std::vector<std::size_t>& rounds, const std::vector<double>& spread, double first_bin) {
  Json health = {{"particles", 4}, {"rounds", rounds}};
  for (const char* name : ParticleHealth::series) health[name] = std::vector<double>(rounds.size(), 0.5);
  health["spread"] = spread;
  health["collapse_line"] = std::vector<double>(rounds.size(), 0.1);
  std::vector<double> pit(20);
  pit.front() = first_bin;
  pit.back() = 1.0 - first_bin;
  health["pit"] = pit;
  return health;
}

TEST(Health, IsCollapsedSinceTheFirstPointOfTheLastStretch) {
  EXPECT_EQ(collapsed_since(made_up({10, 20, 30, 40}, {0.05, 0.2, 0.09, 0.01}, 0.0)), 30U);
  EXPECT_EQ(collapsed_since(made_up({10, 20}, {0.05, 0.1}, 0.0)), 0U);
  EXPECT_EQ(collapsed_since(made_up({10, 20}, {0.05, 0.01}, 0.0)), 10U);
  EXPECT_EQ(collapsed_since(made_up({}, {}, 0.0)), 0U);
}

TEST(Health, IsAveragedOverRealizations) {
  const std::vector<Json> cells = {{{"health", made_up({10, 20}, {0.3, 0.05}, 0.2)}},
                                   {{"health", made_up({10, 20}, {0.05, 0.03}, 0.4)}},
                                   {{"health", made_up({10, 20}, {0.1, 0.2}, 0.6)}}};
  const Json s = health_diagnostic().summarise(cells, 20).at("health");
  EXPECT_EQ(s["particles"], 4);
  EXPECT_EQ(s["rounds"], (Json{10, 20}));
  EXPECT_NEAR(s["spread"][0], 0.15, 1e-12);
  EXPECT_NEAR(s["spread_se"][0], std::sqrt((0.0225 + 0.01 + 0.0025) / 2.0 / 3.0), 1e-12);
  EXPECT_NEAR(s["disagreement"][1], 0.5, 1e-12);
  EXPECT_NEAR(s["disagreement_se"][1], 0.0, 1e-12);
  EXPECT_NEAR(s["pit"][0], 0.4, 1e-12);
  EXPECT_EQ(s["collapsed"], 2);
  EXPECT_EQ(s["collapsed_since"], 10);
}

TEST(Health, SurvivesJson) {
  Trajectory path{.rounds = 2, .regret = 1.0, .uniform_regret = 4.0, .curve = {0.5, 1.0}, .pulls = {1, 1}};
  path.observed["health"] = made_up({1, 2}, {0.3, 0.05}, 0.2);
  path.observed["health"]["repulsion"][1] = std::nan("");  // no drive
  const Trajectory read = trajectory_from(Json::parse(trajectory_json(path).dump()));
  expect_same(read, path);
  EXPECT_TRUE(std::isnan(numbers_in(read.observed["health"]["repulsion"])[1]));
}

ExperimentConfig small_config(bool diagnostics) {
  return {.agents = {"pi-ts,particles=3,hidden=4,batch=8,train_steps=2", "lin-ts"},
          .environments = {"linear"},
          .steps = 80,
          .realizations = 3,
          .diagnostics = diagnostics};
}

class Diagnosed : public testing::Test {
 protected:
  void run(const std::filesystem::path& path) const {
    const auto directory = RunDirectory::resume(path, plan, {});
    run_cells(plan, *directory, 1, std::atomic<bool>(false), no_report);
    directory->collect();
  }
  const Scratch scratch;
  const Plan plan{small_config(true)};
};

TEST_F(Diagnosed, ResumesToTheSameBytes) {
  run(scratch / "whole");
  run(scratch / "resumed");
  for (const char* cell : {"000000.json", "000002.json", "000004.json"}) {
    std::filesystem::remove(scratch / "resumed" / "cells" / cell);
  }
  run(scratch / "resumed");
  EXPECT_EQ(bytes_of(scratch / "resumed/results.jsonl"), bytes_of(scratch / "whole/results.jsonl"));
  EXPECT_EQ(bytes_of(scratch / "resumed/cells/000002.json"), bytes_of(scratch / "whole/cells/000002.json"));
  const Plan reread = Plan::from_resolved(plan.resolved());
  const auto rows = summarise(reread, *RunDirectory::open(scratch / "resumed", reread));
  ASSERT_TRUE(rows[0].observed.contains("health"));
  EXPECT_GT(rows[0].observed["health"]["rounds"].size(), 3U);
  EXPECT_TRUE(rows[1].observed.empty()) << "lin-ts has no particles";
}

TEST_F(Diagnosed, RegretIsThatOfARunWithoutIt) {
  const Plan plain(small_config(false));
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    Trajectory watched = run_cell(plan, plan.cell(i), no_report);
    EXPECT_EQ(watched.observed.contains("health"), i < 3);
    watched.observed = Json::object();
    expect_same(watched, run_cell(plain, plain.cell(i), no_report));
  }
}

TEST_F(Diagnosed, IsAnotherRunThanOneWithoutIt) {
  run(scratch / "run");
  const Plan plain(small_config(false));
  expect_mentions(message_of([&] { RunDirectory::resume(scratch / "run", plain, {}); }), {"diagnostics"});
  const auto resolved = plan.resolved();
  EXPECT_EQ(Plan::from_resolved(resolved).diagnostics().size(), 1U);
  EXPECT_TRUE(Plan::from_resolved(plain.resolved()).diagnostics().empty());
}

TEST_F(Diagnosed, ADamagedHealthIsNamed) {
  run(scratch / "run");
  const auto cell = scratch / "run/cells/000001.json";
  const auto whole = Json::parse(bytes_of(cell));
  for (const auto& [key, value] :
       {std::pair<const char*, Json>{"pit", {0.5, 0.5}}, {"spread", {1.0}}, {"rounds", "none"}}) {
    auto damaged = whole;
    damaged["health"][key] = value;
    write_bytes(cell, damaged.dump());
    expect_mentions(message_of([&] { RunDirectory::open(scratch / "run", plan); }), {cell.string(), "damaged"});
  }
}

}  // namespace
}  // namespace pits::test
