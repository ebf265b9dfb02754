// A labelled table as a bandit problem: the right class pays 1, every other 0.
#pragma once

#include <memory>

#include "pits/data/table.h"
#include "pits/environment/row_contexts.h"

namespace pits {

class Classification : public Environment {
 public:
  Classification(std::shared_ptr<const Table> table, const RowsConfig& config, const EnvironmentSetup& setup);

  std::size_t context_size() const override { return contexts_.size(); }
  std::size_t actions() const override { return table_->classes.size(); }
  std::size_t horizon() const override { return contexts_.horizon(); }
  std::string remark() const override { return table_->remark; }
  std::string data_sha256() const override { return table_->sha256; }
  void draw(std::size_t t, Round& round) const override;

 private:
  std::shared_ptr<const Table> table_;
  RowContexts contexts_;
};

// The benchmark's: data/benchmark.h.
struct Statlog final : Classification {
  Statlog(const RowsConfig& config, const EnvironmentSetup& setup);
};
struct Covertype final : Classification {
  Covertype(const RowsConfig& config, const EnvironmentSetup& setup);
};
struct Adult final : Classification {
  Adult(const RowsConfig& config, const EnvironmentSetup& setup);
};
struct Census final : Classification {
  Census(const RowsConfig& config, const EnvironmentSetup& setup);
};

}  // namespace pits
