// What a plan says about the data of its environments, and that a report needs none.
#include <gtest/gtest.h>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"
#include "pits/experiment/results.h"
#include "pits/experiment/run_cell.h"
#include "pits/experiment/summary.h"

namespace pits::test {
namespace {

const char* const few_rows = "x,kind\n1,a\n2,b\n3,a\n";

class DataOfAPlan : public testing::Test {
 protected:
  DataOfAPlan() { write_bytes(file, few_rows); }
  Plan plan(std::size_t steps = 3) const {
    return Plan({.agents = {"uniform"},
                 .environments = {"csv:" + file.string() + ",label=kind", "wheel"},
                 .steps = static_cast<std::int64_t>(steps),
                 .realizations = 1});
  }
  const Scratch scratch;
  const std::filesystem::path file = scratch / "own.csv";
};

TEST_F(DataOfAPlan, IsPartOfWhatTheResultsDependOn) {
  const auto environments = plan().resolved()["environments"];
  // sha256sum of few_rows
  EXPECT_EQ(environments[0]["data_sha256"], "dd4b11b0959e84e5654e7ce7307e5da17787161a6ab759fd4855c35c6477e932");
  EXPECT_FALSE(environments[0].contains("remark"));
  EXPECT_FALSE(environments[1].contains("data_sha256"));
}

TEST_F(DataOfAPlan, HasNoMoreRoundsThanRows) {
  const Plan longer = plan(10);
  EXPECT_EQ(longer.rounds(longer.cell(0)), 3U);
  EXPECT_EQ(longer.rounds(longer.cell(1)), 10U);
  EXPECT_EQ(run_cell(longer, longer.cell(0), [](std::size_t) {}).rounds, 3U);
}

TEST_F(DataOfAPlan, OtherDataIsAnotherRun) {
  const std::filesystem::path out = scratch / "run";
  RunDirectory::create(out, plan(), {});
  EXPECT_NO_THROW(RunDirectory::resume(out, plan(), {}));
  write_bytes(file, "x,kind\n1,a\n2,b\n3,b\n");
  expect_mentions(message_of([&] { RunDirectory::resume(out, plan(), {}); }),
                  {"a different run", "environments/0/data_sha256"});
}

TEST_F(DataOfAPlan, IsNotNeededToReadARunAgain) {
  auto resolved = plan().resolved();
  resolved["environments"][0]["remark"] = "first 3 of 5 rows";
  std::filesystem::remove(file);
  const Plan again = Plan::from_resolved(resolved);
  EXPECT_EQ(again.remarks(), (std::vector<std::string>{"first 3 of 5 rows", ""}));
  EXPECT_EQ(again.resolved(), resolved);
  SummaryRow row{};
  row.curve_rounds = {3};
  row.environment = again.environments()[0];
  EXPECT_EQ(summary_line(again, row, false).at("remark"), "first 3 of 5 rows");
  row.environment = again.environments()[1];
  EXPECT_FALSE(summary_line(again, row, false).contains("remark"));
}

}  // namespace
}  // namespace pits::test
