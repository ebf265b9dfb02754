#include "pits/environment/table_environment.h"

#include <algorithm>
#include <numeric>

#include "pits/data/load.h"

namespace pits {
namespace {

constexpr double good_meal = 5.0;
constexpr double poisoned = -35.0;
constexpr std::uint32_t edible = 0;  // of the sorted classes e, p

// Step 0 of this purpose is the order of the rows.
Address second_setup(const EnvironmentSetup& setup) {
  return {setup.seed, setup.realization, Purpose::environment_setup, 1};
}

// Reward columns in random order where the first of them are the context, else in their own.
std::vector<std::uint32_t> column_order(std::size_t columns, std::size_t contexts, const EnvironmentSetup& setup) {
  if (contexts > 0) return draw_distinct(second_setup(setup), columns, columns);
  std::vector<std::uint32_t> order(columns);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

void pay_for_mushroom(std::uint32_t kind, Stream coin, Round& round) {
  round.rewards = {0.0, good_meal};
  round.mean_rewards = round.rewards;
  if (kind == edible) return;
  round.rewards[1] = coin.index(2) == 0 ? poisoned : good_meal;
  round.mean_rewards[1] = 0.5 * (poisoned + good_meal);
}

}  // namespace

Fields fields(TableConfig& c) {
  const bool own_file = c.set == nullptr;
  Fields list = own_file ? fields(c.csv) : Fields{};
  if (own_file && c.rewards == RewardRule::label) {
    list.add("label", c.label, "the column to guess: its name or its number from 1");
  }
  if (own_file && c.rewards == RewardRule::columns) {
    list.add("actions", c.actions, "how many of the last columns are rewards; 0: those named reward_*",
             between(0, 1e5));
  }
  list.add("standardise", c.rows.standardise,
           "rows: mean 0 and std 1 over the rows of a realization; none: as they are");
  if (c.rewards != RewardRule::mushroom) {
    list.add("replace", c.rows.replace, "draw rows with replacement, so that the problem has no end");
  }
  if (c.rewards != RewardRule::linear) return list;
  list.add("actions", c.actions, "number of actions K", between(1, 1e5));
  return std::move(list).merge(fields(c.noise));
}

TableConfig table_config(const DataSet& set) {
  return {.set = &set,
          .rewards = set.rewards,
          .rows = {.standardise = set.standardise ? Standardise::rows : Standardise::none,
                   .replace = set.rewards == RewardRule::mushroom},
          .actions = 8};
}

std::shared_ptr<const Table> load_table(const TableConfig& config, const std::string& data_dir) {
  if (config.set != nullptr) return load_table(*config.set, data_dir);
  if (config.rewards == RewardRule::label) return labelled_csv_table(config.csv, config.label);
  return rewards_csv_table(config.csv, static_cast<std::size_t>(config.actions));
}

TableEnvironment::TableEnvironment(std::shared_ptr<const Table> table, const TableConfig& config,
                                   const EnvironmentSetup& setup)
    : setup_(setup),
      table_(std::move(table)),
      rule_(checked(config).rewards),
      noise_(config.noise),
      context_columns_(config.set == nullptr ? 0 : config.set->context_columns),
      columns_(column_order(table_->reward_columns, context_columns_, setup)),
      contexts_(table_->contexts, config.rows, setup, std::span(columns_).first(context_columns_)) {
  if (rule_ != RewardRule::linear) return;
  Stream stream(second_setup(setup));
  beta_ = draw_coefficients(stream, static_cast<Eigen::Index>(contexts_.size()), config.actions, Support::all);
}

std::size_t TableEnvironment::actions() const {
  switch (rule_) {
    case RewardRule::columns: return columns_.size() - context_columns_;
    case RewardRule::linear: return static_cast<std::size_t>(beta_.cols());
    case RewardRule::label:
    case RewardRule::mushroom: break;
  }
  return table_->classes.size();
}

void TableEnvironment::draw(std::size_t t, Round& round) const {
  const std::size_t row = contexts_.row(t);
  contexts_.fill(row, round.context);
  const auto stream = [&] { return round_stream(setup_, Purpose::environment_reward, t); };
  if (rule_ == RewardRule::linear) return draw_linear_rewards(beta_, noise_, stream(), round);
  if (rule_ == RewardRule::mushroom) return pay_for_mushroom(table_->labels[row], stream(), round);
  round.rewards.assign(actions(), 0.0);
  if (rule_ == RewardRule::label) {
    round.rewards[table_->labels[row]] = 1.0;
  } else {
    const double* rewards = table_->rewards.data() + row * table_->reward_columns;
    for (std::size_t a = 0; a < actions(); ++a) round.rewards[a] = rewards[columns_[context_columns_ + a]];
  }
  round.mean_rewards = round.rewards;
}

}  // namespace pits
