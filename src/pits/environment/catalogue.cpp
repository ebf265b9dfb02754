#include "pits/environment/catalogue.h"

#include "pits/environment/linear.h"
#include "pits/environment/wheel.h"

namespace pits {
namespace {

template <class Made, class Config>
EnvironmentEntry problem(std::string name, std::string summary, std::vector<Preset> presets = {},
                         Config (*preset)(std::string_view) = default_config<Config>) {
  return make_entry<Environment, EnvironmentSetup, Made, Config>(std::move(name), std::move(summary),
                                                                 std::move(presets), preset);
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
  };
  return catalogue;
}

}  // namespace pits
