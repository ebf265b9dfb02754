// Problems of a CSV file that changes.
#include <gtest/gtest.h>

#include "environment/data_problem.h"
#include "experiment/scratch.h"
#include "pits/environment/catalogue.h"

namespace pits::test {
namespace {

class OwnFile : public testing::Test {
 protected:
  void write(std::string_view text) const { write_bytes(file(), text); }
  std::string file() const { return (scratch_ / "own.csv").string(); }
  std::unique_ptr<EnvironmentRecipe> recipe() const {
    return find_recipe(environment_catalogue(), "environment",
                       parse_spec("csv:" + file() + ",label=k,standardise=none"));
  }

 private:
  const Scratch scratch_;
};

// The context of every row, and the class that pays.
std::set<std::pair<float, std::size_t>> rows_of(const Environment& problem) {
  std::set<std::pair<float, std::size_t>> rows;
  for (std::size_t t = 0; t < problem.horizon(); ++t) {
    const Round round = round_of(problem, t);
    rows.emplace(round.context.at(0), round.rewards.at(0) == 1.0 ? 0 : 1);
  }
  return rows;
}

using Rows = std::set<std::pair<float, std::size_t>>;
const Rows old_rows = {{1.0F, 0}, {2.0F, 1}}, new_rows = {{1.0F, 1}, {2.0F, 0}};
constexpr std::string_view old_text = "x,k\n1,a\n2,b\n", new_text = "x,k\n1,b\n2,a\n";

// In a notebook the result of the first run keeps the first table alive.
TEST_F(OwnFile, ANewRecipeReadsTheFileAsItIsNow) {
  write(old_text);
  const auto before = recipe();
  const auto first = before->make({});
  EXPECT_EQ(rows_of(*first), old_rows);
  write(new_text);
  const auto second = recipe()->make({});
  EXPECT_EQ(rows_of(*second), new_rows);
  EXPECT_NE(second->data_sha256(), first->data_sha256());
}

TEST_F(OwnFile, AllRealizationsOfARecipePlayTheSameRows) {
  write(old_text);
  const auto plan = recipe();
  const std::string sha = plan->make({})->data_sha256();
  write(new_text);
  const auto later = plan->make({.realization = 1});
  EXPECT_EQ(rows_of(*later), old_rows);
  EXPECT_EQ(later->data_sha256(), sha);
  std::filesystem::remove(file());
  EXPECT_EQ(rows_of(*plan->make({.realization = 2})), old_rows);
}

TEST_F(OwnFile, AFieldThatIsSetLaterCounts) {
  write("x,k,z\n1,a,u\n2,b,v\n");
  const auto problem = recipe();
  EXPECT_EQ(problem->make({})->context_size(), 3U);
  problem->fields().set("drop", "z");
  EXPECT_EQ(problem->make({})->context_size(), 1U);
}

}  // namespace
}  // namespace pits::test
