// A table that knows what every action pays in every row.
#pragma once

#include <memory>

#include "pits/data/benchmark.h"
#include "pits/environment/row_contexts.h"

namespace pits {

// Which columns a realization takes; none: all of them.
struct ColumnChoice {
  std::vector<std::uint32_t> contexts{};  // of Table::contexts
  std::vector<std::uint32_t> rewards{};   // of Table::rewards
};

class KnownRewards : public Environment {
 public:
  KnownRewards(std::shared_ptr<const Table> table, const RowsConfig& config, const EnvironmentSetup& setup,
               ColumnChoice choice = {});

  std::size_t context_size() const override { return contexts_.size(); }
  std::size_t actions() const override { return reward_columns_.size(); }
  std::size_t horizon() const override { return contexts_.horizon(); }
  std::string remark() const override { return table_->remark; }
  std::string data_sha256() const override { return table_->sha256; }
  void draw(std::size_t t, Round& round) const override;

 private:
  std::shared_ptr<const Table> table_;
  RowContexts contexts_;
  std::vector<std::uint32_t> reward_columns_;
};

// Jester of the showdown: of 40 jokes in random order the ratings of the first 32 are the context, those of the other
// 8 the rewards.
struct JesterConfig {
  RowsConfig rows{.standardise = Standardise::none};
};
inline Fields fields(JesterConfig& config) { return fields(config.rows); }

struct Jester final : KnownRewards {
  Jester(const JesterConfig& config, const EnvironmentSetup& setup);
};

}  // namespace pits
