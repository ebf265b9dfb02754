// Problems whose contexts are the rows of a table: the benchmark's data sets, and CSV files of the user's.
#pragma once

#include <memory>

#include "pits/data/catalogue.h"
#include "pits/data/read/csv_table.h"
#include "pits/environment/linear_rewards.h"
#include "pits/environment/row_contexts.h"

namespace pits {

struct TableConfig {
  const DataSet* set = nullptr;  // null: the file of `csv`
  RewardRule rewards = RewardRule::label;
  CsvTableConfig csv{};
  std::string label{};  // of a CSV file: the column to guess, its name or its number from 1
  RowsConfig rows{};
  int actions = 0;      // of linear rewards: K; of a CSV file: the last columns are rewards, 0: those named reward_*
  RewardNoise noise{};  // of linear rewards
};
Fields fields(TableConfig& config);  // those that a problem of this source and reward rule has

TableConfig table_config(const DataSet& set);
// Reads the table. `data_dir` as in data/source/locate.h.
std::shared_ptr<const Table> load_table(const TableConfig& config, const std::string& data_dir);

class TableEnvironment final : public Environment {
 public:
  TableEnvironment(std::shared_ptr<const Table> table, const TableConfig& config, const EnvironmentSetup& setup);
  TableEnvironment(const TableConfig& config, const EnvironmentSetup& setup)
      : TableEnvironment(load_table(config, setup.data_dir), config, setup) {}

  std::size_t context_size() const override { return contexts_.size(); }
  std::size_t actions() const override;
  std::size_t horizon() const override { return contexts_.horizon(); }
  std::string remark() const override { return table_->remark; }
  std::string data_sha256() const override { return table_->sha256; }
  void draw(std::size_t t, Round& round) const override;

 private:
  EnvironmentSetup setup_;
  std::shared_ptr<const Table> table_;
  RewardRule rule_;
  RewardNoise noise_;
  std::size_t context_columns_;         // how many of columns_ are the context; 0: all columns of the table are
  std::vector<std::uint32_t> columns_;  // of a table with rewards: context columns, then reward columns
  RowContexts contexts_;
  Eigen::MatrixXd beta_;  // (d,K) of linear rewards
};

}  // namespace pits
