#include "pits/environment/catalogue.h"

#include "pits/environment/classification.h"
#include "pits/environment/csv_problems.h"
#include "pits/environment/financial.h"
#include "pits/environment/known_rewards.h"
#include "pits/environment/linear.h"
#include "pits/environment/mushroom.h"
#include "pits/environment/wheel.h"

namespace pits {
namespace {

template <class Made, class Config>
EnvironmentEntry problem(std::string name, std::string summary, std::vector<Preset> presets = {},
                         Config (*preset)(std::string_view) = default_config<Config>) {
  return make_entry<Environment, EnvironmentSetup, Made, Config>(std::move(name), std::move(summary),
                                                                 std::move(presets), preset);
}

// An entry that is asked for as NAME:FILE.
EnvironmentEntry from_file(EnvironmentEntry entry) {
  entry.argument = "file";
  return entry;
}

const std::vector<Preset> named_dimensions = {{"d10", "contexts of 10 numbers"}, {"d20", "contexts of 20 numbers"}};

}  // namespace

// To add a problem: one file, one line here, one test.
const std::vector<EnvironmentEntry>& environment_catalogue() {
  static const std::vector<EnvironmentEntry> catalogue = {
      problem<Linear, LinearConfig>("linear", "rewards linear in Gaussian contexts, 8 actions", named_dimensions,
                                    linear_preset),
      problem<Linear, LinearConfig>("sparse_linear", "rewards linear in a third of the context, 7 actions",
                                    named_dimensions, sparse_linear_preset),
      problem<Wheel, WheelConfig>("wheel", "the rim of a disc pays 50 times as much, for the arm of its quadrant"),
      problem<Mushroom, MushroomConfig>("mushroom", "to eat a mushroom or not, d = 117"),
      problem<Statlog, RowsConfig>("statlog", "the class of a space shuttle's state, d = 9, 7 actions"),
      problem<Covertype, RowsConfig>("covertype", "the cover type of a forest, d = 54, 7 actions"),
      problem<Adult, RowsConfig>("adult", "a person's occupation, d = 94, 14 actions"),
      problem<Census, RowsConfig>("census", "a person's occupation in 1990, d = 389, 9 actions"),
      problem<Financial, FinancialConfig>("financial", "rewards linear in 21 stocks' price changes, 8 actions"),
      problem<Jester, JesterConfig>("jester", "ratings of 8 jokes by those of 32 others"),
      from_file(problem<Csv, CsvConfig>("csv", "csv:FILE, the class in the column label of a CSV file of yours")),
      from_file(problem<Rewards, RewardsConfig>("rewards", "rewards:FILE, a CSV file that has every action's reward")),
  };
  return catalogue;
}

}  // namespace pits
