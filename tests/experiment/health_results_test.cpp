// Health in cells, run directories and summaries.
#include <gtest/gtest.h>

#include <cmath>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "experiment/trajectories.h"
#include "pits/experiment/runner.h"
#include "pits/experiment/summary.h"
#include "pits/experiment/trajectory_json.h"

namespace pits::test {
namespace {

Health made_up(std::vector<std::size_t> rounds, std::vector<double> spread, double first_bin) {
  Health health{.particles = 4};
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    health.points.push_back({.round = rounds[i], .disagreement = 0.5, .spread = spread[i], .collapse_line = 0.1});
  }
  health.pit[0] = first_bin;
  health.pit[19] = 1.0 - first_bin;
  return health;
}

TEST(Health, IsCollapsedSinceTheFirstPointOfTheLastStretch) {
  EXPECT_EQ(collapsed_since(made_up({10, 20, 30, 40}, {0.05, 0.2, 0.09, 0.01}, 0.0)), 30U);
  EXPECT_EQ(collapsed_since(made_up({10, 20}, {0.05, 0.1}, 0.0)), 0U);
  EXPECT_EQ(collapsed_since(made_up({10, 20}, {0.05, 0.01}, 0.0)), 10U);
  EXPECT_EQ(collapsed_since(Health{}), 0U);
}

TEST(Health, IsAveragedOverRealizations) {
  const std::vector<Health> healths = {made_up({10, 20}, {0.3, 0.05}, 0.2), made_up({10, 20}, {0.05, 0.03}, 0.4),
                                       made_up({10, 20}, {0.1, 0.2}, 0.6)};
  const HealthSummary s = summarise_health(healths);
  EXPECT_EQ(s.particles, 4U);
  EXPECT_EQ(s.rounds, (std::vector<std::size_t>{10, 20}));
  EXPECT_NEAR(s.curve(&HealthPoint::spread).mean[0], 0.15, 1e-12);
  EXPECT_NEAR(s.curve(&HealthPoint::spread).se[0], std::sqrt((0.0225 + 0.01 + 0.0025) / 2.0 / 3.0), 1e-12);
  EXPECT_NEAR(s.curve(&HealthPoint::disagreement).mean[1], 0.5, 1e-12);
  EXPECT_NEAR(s.curve(&HealthPoint::disagreement).se[1], 0.0, 1e-12);
  EXPECT_NEAR(s.pit[0], 0.4, 1e-12);
  EXPECT_EQ(s.realizations, 3U);
  EXPECT_EQ(s.collapsed, 2U);
  EXPECT_EQ(s.collapsed_since, 10U);
  EXPECT_EQ(health_json(s)["spread_se"].size(), 2U);
}

TEST(Health, SurvivesJson) {
  Trajectory path{.rounds = 2, .regret = 1.0, .uniform_regret = 4.0, .curve = {0.5, 1.0}, .pulls = {1, 1}};
  path.health = made_up({1, 2}, {0.3, 0.05}, 0.2);
  expect_same(trajectory_from(nlohmann::ordered_json::parse(trajectory_json(path).dump())), path);
  path.health.points[1].repulsion = std::nan("");  // no drive
  const Trajectory read = trajectory_from(nlohmann::ordered_json::parse(trajectory_json(path).dump()));
  EXPECT_TRUE(std::isnan(read.health.points[1].repulsion));
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
  ASSERT_TRUE(rows[0].health);
  EXPECT_GT(rows[0].health->rounds.size(), 3U);
  EXPECT_FALSE(rows[1].health) << "lin-ts has no particles";
}

TEST_F(Diagnosed, RegretIsThatOfARunWithoutIt) {
  const Plan plain(small_config(false));
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    Trajectory watched = plan.run(plan.cell(i), no_report);
    EXPECT_EQ(watched.health.known(), i < 3);
    watched.health = {};
    expect_same(watched, plain.run(plain.cell(i), no_report));
  }
}

TEST_F(Diagnosed, IsAnotherRunThanOneWithoutIt) {
  run(scratch / "run");
  const Plan plain(small_config(false));
  expect_mentions(message_of([&] { RunDirectory::resume(scratch / "run", plain, {}); }), {"diagnostics"});
  const auto resolved = plan.resolved();
  EXPECT_TRUE(Plan::from_resolved(resolved).diagnoses());
  EXPECT_FALSE(Plan::from_resolved(plain.resolved()).diagnoses());
}

TEST_F(Diagnosed, ADamagedHealthIsNamed) {
  run(scratch / "run");
  const auto cell = scratch / "run/cells/000001.json";
  const auto whole = nlohmann::ordered_json::parse(bytes_of(cell));
  for (const auto& [key, value] :
       {std::pair<const char*, nlohmann::ordered_json>{"pit", {0.5, 0.5}}, {"spread", {1.0}}, {"rounds", "none"}}) {
    auto damaged = whole;
    damaged["health"][key] = value;
    write_bytes(cell, damaged.dump());
    expect_mentions(message_of([&] { RunDirectory::open(scratch / "run", plan); }), {cell.string(), "damaged"});
  }
}

}  // namespace
}  // namespace pits::test
