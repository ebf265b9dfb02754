#include "pits/environment/known_rewards.h"

#include <numeric>

#include "pits/core/random.h"

namespace pits {
namespace {

ColumnChoice shuffled_jokes(const EnvironmentSetup& setup) {
  constexpr std::ptrdiff_t context_jokes = 32;
  // step 0 is the order of the rows
  const std::vector<std::uint32_t> order =
      draw_distinct({setup.seed, setup.realization, Purpose::environment_setup, 1}, jester_jokes, jester_jokes);
  return {.contexts = {order.begin(), order.begin() + context_jokes},
          .rewards = {order.begin() + context_jokes, order.end()}};
}

}  // namespace

KnownRewards::KnownRewards(std::shared_ptr<const Table> table, const RowsConfig& config, const EnvironmentSetup& setup,
                           ColumnChoice choice)
    : table_(std::move(table)),
      contexts_(table_->contexts, checked(config), setup, std::move(choice.contexts)),
      reward_columns_(std::move(choice.rewards)) {
  if (!reward_columns_.empty()) return;
  reward_columns_.resize(table_->reward_columns);
  std::iota(reward_columns_.begin(), reward_columns_.end(), 0U);
}

void KnownRewards::draw(std::size_t t, Round& round) const {
  const std::size_t row = contexts_.row(t);
  contexts_.fill(row, round.context);
  const double* rewards = table_->rewards.data() + row * table_->reward_columns;
  round.rewards.resize(actions());
  for (std::size_t a = 0; a < actions(); ++a) round.rewards[a] = rewards[reward_columns_[a]];
  round.mean_rewards = round.rewards;
}

Jester::Jester(const JesterConfig& config, const EnvironmentSetup& setup)
    : KnownRewards(jester_table(setup.data_dir), config.rows, setup, shuffled_jokes(setup)) {}

}  // namespace pits
