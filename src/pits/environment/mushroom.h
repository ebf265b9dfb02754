// Mushroom of the showdown: to eat (action 2) or not (action 1). Not eating pays 0, an edible mushroom 5, a poisonous
// one −35 or 5 with probability ½ each. Rows are drawn with replacement.
#pragma once

#include <memory>

#include "pits/data/table.h"
#include "pits/environment/row_contexts.h"

namespace pits {

struct MushroomConfig {
  Standardise standardise = Standardise::none;
};
Fields fields(MushroomConfig& config);

class Mushroom : public Environment {
 public:
  Mushroom(const MushroomConfig& config, const EnvironmentSetup& setup);

  std::size_t context_size() const override { return contexts_.size(); }
  std::size_t actions() const override { return 2; }
  std::string remark() const override { return table_->remark; }
  std::string data_sha256() const override { return table_->sha256; }
  void draw(std::size_t t, Round& round) const override;

 private:
  EnvironmentSetup setup_;
  std::shared_ptr<const Table> table_;
  RowContexts contexts_;
};

}  // namespace pits
