// Financial of the showdown: the price changes of 21 stocks as contexts, rewards linear in them.
#pragma once

#include <memory>

#include "pits/data/table.h"
#include "pits/environment/linear_rewards.h"
#include "pits/environment/row_contexts.h"

namespace pits {

struct FinancialConfig {
  RowsConfig rows{.standardise = Standardise::none};
  int actions = 8;  // K
  NoiseUnit noise = NoiseUnit::sd;
  double noise_level = 0.01;
  NoiseGrowth noise_growth = NoiseGrowth::action;
};
Fields fields(FinancialConfig& config);

class Financial : public Environment {
 public:
  Financial(const FinancialConfig& config, const EnvironmentSetup& setup);

  std::size_t context_size() const override { return contexts_.size(); }
  std::size_t actions() const override { return static_cast<std::size_t>(beta_.cols()); }
  std::size_t horizon() const override { return contexts_.horizon(); }
  std::string remark() const override { return table_->remark; }
  std::string data_sha256() const override { return table_->sha256; }
  void draw(std::size_t t, Round& round) const override;

  const Eigen::MatrixXd& coefficients() const { return beta_; }  // (d,K), columns of norm 1

 private:
  EnvironmentSetup setup_;
  std::shared_ptr<const Table> table_;
  RowContexts contexts_;
  RewardNoise noise_;
  Eigen::MatrixXd beta_;
};

}  // namespace pits
