#include "pits/environment/catalogue.h"

#include <algorithm>
#include <mutex>

#include "pits/environment/linear.h"
#include "pits/environment/product.h"
#include "pits/environment/table_environment.h"
#include "pits/environment/wheel.h"

namespace pits {
namespace {

template <class Made, class Config>
EnvironmentEntry formula(std::string name, std::string summary, std::vector<Preset> presets = {},
                         Config (*preset)(std::string_view) = default_config<Config>) {
  return make_entry<Environment, EnvironmentSetup, Made, Config>(std::move(name), std::move(summary),
                                                                 std::move(presets), preset);
}

// Reads the table for the first environment and keeps it, so that all realizations of a plan play the same rows even
// where the file changes meanwhile.
class TableRecipe final : public EnvironmentRecipe {
 public:
  explicit TableRecipe(TableConfig config) : config_(std::move(config)) {}

  Fields fields() override { return fields_of(config_); }
  std::unique_ptr<Environment> make(const EnvironmentSetup& setup) const override {
    return std::make_unique<TableEnvironment>(table(setup.data_dir), config_, setup);
  }

 private:
  std::shared_ptr<const Table> table(const std::string& data_dir) const {
    TableConfig config = config_;
    std::string source = data_dir;
    for (const Field& field : fields_of(config).list()) source += '\n' + field.name + '=' + field.get();
    const std::scoped_lock lock(mutex_);
    if (table_ == nullptr || source != source_) table_ = load_table(checked(config_), data_dir);
    source_ = source;
    return table_;
  }

  TableConfig config_;
  mutable std::mutex mutex_;
  mutable std::string source_;  // data directory and fields that table_ was read for
  mutable std::shared_ptr<const Table> table_;
};

// `argument`: the field that the text after the colon of NAME:FILE sets.
EnvironmentEntry on_table(std::string name, std::string summary, TableConfig config, std::string argument = {}) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .presets = {},
          .recipe = [config = std::move(config)](std::string_view) { return std::make_unique<TableRecipe>(config); },
          .argument = std::move(argument)};
}

EnvironmentEntry product(std::string name, std::string summary, ProductKind kind) {
  EnvironmentEntry entry{.name = std::move(name), .summary = std::move(summary), .presets = {}, .recipe = {}};
  for (const ProductPreset& row : product_presets()) {
    if (row.kind == kind) entry.presets.push_back({std::string(row.name), std::string(row.summary)});
  }
  entry.recipe = [kind](std::string_view preset) {
    const auto row = std::ranges::find_if(product_presets(),
                                          [&](const ProductPreset& r) { return r.kind == kind && r.name == preset; });
    return make_recipe<Environment, EnvironmentSetup, Product>(row->config);
  };
  return entry;
}

// A data set is one row in data/catalogue.cpp. To add a formula: one file, one line here, one test.
std::vector<EnvironmentEntry> entries() {
  const std::vector<Preset> dimensions = {{"d10", "contexts of 10 numbers"}, {"d20", "contexts of 20 numbers"}};
  std::vector<EnvironmentEntry> all = {
      formula<Linear, LinearConfig>("linear", "rewards linear in Gaussian contexts, 8 actions", dimensions,
                                    linear_preset),
      formula<Linear, LinearConfig>("sparse_linear", "rewards linear in a third of the context, 7 actions", dimensions,
                                    sparse_linear_preset),
      formula<Wheel, WheelConfig>("wheel", "the rim of a disc pays 50 times as much, for the arm of its quadrant"),
      product("click", "clicks, 0 or 1, by a logistic truth", ProductKind::click),
      product("revenue", "0 in most rounds, else a lognormal sum", ProductKind::revenue),
      product("price", "ordered prices: paid if the visitor's willingness to pay is as high", ProductKind::price),
      product("drift", "numbers with noise, by a truth that may change", ProductKind::drift),
  };
  for (const DataSet& set : data_catalogue()) all.push_back(on_table(set.name, set.problem, table_config(set)));
  all.push_back(on_table("csv", "csv:FILE, the class in the column label of a CSV file of yours", {}, "file"));
  all.push_back(on_table("rewards", "rewards:FILE, a CSV file that has every action's reward",
                         {.rewards = RewardRule::columns, .rows = {.standardise = Standardise::none}}, "file"));
  return all;
}

}  // namespace

const std::vector<EnvironmentEntry>& environment_catalogue() {
  static const std::vector<EnvironmentEntry> catalogue = entries();
  return catalogue;
}

}  // namespace pits
