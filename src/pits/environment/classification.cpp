#include "pits/environment/classification.h"

#include "pits/data/benchmark.h"

namespace pits {

Classification::Classification(std::shared_ptr<const Table> table, const RowsConfig& config,
                               const EnvironmentSetup& setup)
    : table_(std::move(table)), contexts_(table_->contexts, checked(config), setup) {}

void Classification::draw(std::size_t t, Round& round) const {
  const std::size_t row = contexts_.row(t);
  contexts_.fill(row, round.context);
  round.rewards.assign(actions(), 0.0);
  round.rewards[table_->labels[row]] = 1.0;
  round.mean_rewards = round.rewards;
}

Statlog::Statlog(const RowsConfig& config, const EnvironmentSetup& setup)
    : Classification(statlog_table(setup.data_dir), config, setup) {}
Covertype::Covertype(const RowsConfig& config, const EnvironmentSetup& setup)
    : Classification(covertype_table(setup.data_dir), config, setup) {}
Adult::Adult(const RowsConfig& config, const EnvironmentSetup& setup)
    : Classification(adult_table(setup.data_dir), config, setup) {}
Census::Census(const RowsConfig& config, const EnvironmentSetup& setup)
    : Classification(census_table(setup.data_dir), config, setup) {}

}  // namespace pits
