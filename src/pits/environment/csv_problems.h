// Problems from a file of one's own: classes to guess, or rewards that are known for every action.
#pragma once

#include "pits/data/csv_table.h"
#include "pits/environment/classification.h"
#include "pits/environment/known_rewards.h"

namespace pits {

struct CsvConfig {
  CsvTableConfig table{};
  std::string label{};  // a column's name or its number from 1
  RowsConfig rows{};
};
Fields fields(CsvConfig& config);

struct Csv final : Classification {
  Csv(const CsvConfig& config, const EnvironmentSetup& setup);
};

struct RewardsConfig {
  CsvTableConfig table{};
  int actions = 0;  // the last columns are rewards; 0: those named reward_*
  RowsConfig rows{.standardise = Standardise::none};
};
Fields fields(RewardsConfig& config);

struct Rewards final : KnownRewards {
  Rewards(const RewardsConfig& config, const EnvironmentSetup& setup);
};

}  // namespace pits
