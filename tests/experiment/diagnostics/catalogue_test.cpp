// What holds for every diagnostic: which fields are its own, and that cells have those that were asked for.
#include "pits/experiment/diagnostics/catalogue.h"

#include <gtest/gtest.h>

#include <set>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "experiment/trajectories.h"
#include "pits/experiment/ranks/executor.h"
#include "pits/experiment/run_cell.h"
#include "pits/experiment/summary.h"

namespace pits::test {
namespace {

using Json = nlohmann::ordered_json;

ExperimentConfig observed_config(std::string probe, bool health) {
  return {.agents = {"pi-ts:fast"},
          .environments = {"linear"},
          .steps = 60,
          .realizations = 2,
          .probe = std::move(probe),
          .diagnostics = health};
}

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST(Diagnostics, FieldsAreThoseThatBearTheName) {
  const Json cell = {
      {"rounds", 3}, {"posterior_w2", {1.0}}, {"health", {{"particles", 2}}}, {"healthy", 1}, {"curve", {0.0}}};
  EXPECT_EQ(observed_in(cell), (Json{{"posterior_w2", {1.0}}, {"health", {{"particles", 2}}}}));
}

TEST(Diagnostics, SeveralAtOnceAddTheirFieldsToCellAndSummary) {
  const Plan plan(observed_config("posterior", true)), plain(observed_config("", false));
  MemoryResults results(plan);
  run_cells(plan, results, 1, std::atomic<bool>(false), no_report);
  Trajectory cell = results.get(1);
  EXPECT_EQ(keys_of(cell.observed), (std::set<std::string>{"posterior_w2", "posterior_floor", "health"}));
  const SummaryRow row = summarise(plan, results).at(0);
  EXPECT_EQ(keys_of(row.observed), (std::set<std::string>{"posterior_rounds", "posterior_w2", "posterior_w2_se",
                                                          "posterior_floor", "health"}));
  const Json line = summary_line(plan, row, false);
  for (const std::string& key : keys_of(row.observed)) EXPECT_EQ(line.at(key), row.observed.at(key)) << key;
  cell.observed = Json::object();
  expect_same(cell, run_cell(plain, plain.cell(1), no_report));
}

TEST(Diagnostics, ACellHasWhatWasAskedForAndNothingElse) {
  const Plan plan(observed_config("posterior", false));
  const Json cell = run_cell(plan, plan.cell(0), no_report).observed;
  const auto message = [&](std::string_view probe, bool health, const Json& observed) {
    return message_of([&] { check_observed(asked_diagnostics(probe, health), observed, 60); });
  };
  EXPECT_NO_THROW(check_observed(asked_diagnostics("posterior", false), cell, 60));
  expect_mentions(message("", false, cell), {"posterior_"});
  expect_mentions(message("", true, cell), {"posterior_"});
  Json more = cell, shorter = cell;
  more["health"] = Json::object();
  expect_mentions(message("posterior", false, more), {"health"});
  shorter["posterior_floor"].erase(0);
  expect_mentions(message("posterior", false, shorter), {"posterior_floor"});
  EXPECT_THROW(check_observed(asked_diagnostics("posterior", false), Json::object(), 60), Json::exception);
}

TEST(Diagnostics, AnUnknownProbeIsRefusedWithTheNamesThereAre) {
  expect_mentions(message_of([] { asked_diagnostics("posterio", true); }), {"posterio", "posterior", "health"});
}

}  // namespace
}  // namespace pits::test
