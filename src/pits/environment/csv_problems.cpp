#include "pits/environment/csv_problems.h"

namespace pits {

Fields fields(CsvConfig& c) {
  return fields(c.table)
      .add("label", c.label, "the column to guess: its name or its number from 1")
      .merge(fields(c.rows));
}

Fields fields(RewardsConfig& c) {
  return fields(c.table)
      .add("actions", c.actions, "how many of the last columns are rewards; 0: those named reward_*", between(0, 1e5))
      .merge(fields(c.rows));
}

Csv::Csv(const CsvConfig& config, const EnvironmentSetup& setup)
    : Classification(labelled_csv_table(config.table, config.label), config.rows, setup) {}

Rewards::Rewards(const RewardsConfig& config, const EnvironmentSetup& setup)
    : KnownRewards(rewards_csv_table(config.table, static_cast<std::size_t>(checked(config).actions)), config.rows,
                   setup) {}

}  // namespace pits
