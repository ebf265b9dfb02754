#include "pits/evaluate/read/log_builder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pits {
namespace {

constexpr double tolerance = 1e-3;  // of sums of probabilities that were written as decimals or float

bool whole(const std::string& name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && name.size() < 7 && std::ranges::all_of(name, digit) && (name.size() == 1 || name[0] != '0');
}

}  // namespace

LogBuilder::LogBuilder(std::vector<std::string> actions, std::optional<RewardRange> range)
    : closed_(!actions.empty()), range_(range) {
  add_actions(actions);
}

void LogBuilder::add_actions(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!numbers_.emplace(name, static_cast<Action>(names_.size())).second) {
      throw bad_input("two actions have the name '{}'", name);
    }
    names_.push_back(name);
  }
}

Action LogBuilder::action(std::string_view name, const Place& place) {
  const std::string text(name);
  const auto found = numbers_.find(text);
  if (found != numbers_.end()) return found->second;
  if (text.empty()) throw place.wrong("the action is missing");
  if (closed_) throw place.wrong("{}", unknown_name("action", name, names_).what());
  add_actions({text});
  return static_cast<Action>(names_.size() - 1);
}

void LogBuilder::set_policies(const std::vector<std::string>& names) {
  for (const std::string& name : names) policies_.push_back({.name = name});
}

void LogBuilder::check_numbers(const RoundRow& row, const Place& place) const {
  if (row.action >= K()) throw place.wrong("the action must be below {}, not {}", K(), row.action);
  if (!std::isfinite(row.reward)) throw place.wrong("the reward must be a finite number, not {}", row.reward);
  if (range_ && (row.reward < range_->low || row.reward > range_->high)) {
    throw place.wrong("the reward {} is outside of the range {} to {}", row.reward, range_->low, range_->high);
  }
  const auto finite = [](float v) { return std::isfinite(v); };
  if (!std::ranges::all_of(row.x, finite)) throw place.wrong("a number of the context is not finite");
  if (!std::ranges::all_of(row.features, finite)) throw place.wrong("a feature of an action is not finite");
}

void LogBuilder::check_mask(const RoundRow& row, const Place& place) const {
  if (row.allowed.empty()) return;
  if (row.allowed.size() != K()) {
    throw place.wrong("the mask of allowed actions has {} entries, not {}", row.allowed.size(), K());
  }
  if (std::ranges::count(row.allowed, 0) == static_cast<std::ptrdiff_t>(K())) {
    throw place.wrong("no action is allowed");
  }
  if (row.allowed[row.action] == 0) throw place.wrong("the action '{}' is not allowed there", names_[row.action]);
}

void LogBuilder::check_probabilities(const std::vector<double>& p, std::string_view what, const RoundRow& row,
                                     const Place& place) const {
  if (p.size() != K()) throw place.wrong("{}: {} probabilities for {} actions", what, p.size(), K());
  for (Action a = 0; a < K(); ++a) {
    if (!(p[a] >= 0.0 && p[a] <= 1.0 + tolerance)) {
      throw place.wrong("{}: the probability of '{}' must be in 0..1, not {}", what, names_[a], p[a]);
    }
    if (p[a] > 0.0 && !row.allowed.empty() && row.allowed[a] == 0) {
      throw place.wrong("{}: '{}' has the probability {} but is not allowed", what, names_[a], p[a]);
    }
  }
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  if (std::abs(sum - 1.0) > tolerance) throw place.wrong("{}: the probabilities sum to {:.6g}, not 1", what, sum);
}

void LogBuilder::check_propensity(RoundRow& row, const Place& place) const {
  if (!row.propensities.empty()) {
    check_probabilities(row.propensities, "the logger", row, place);
    const double own = row.propensities[row.action];
    if (!row.propensity) row.propensity = own;
    if (std::abs(*row.propensity - own) > tolerance) {
      throw place.wrong("the propensity of '{}' is {} in one place and {} in another", names_[row.action],
                        *row.propensity, own);
    }
  }
  if (!row.propensity) {
    throw place.wrong("no propensity: the probability of the logged action is needed, as it was when it was taken");
  }
  const double p = *row.propensity;
  if (!std::isfinite(p)) throw place.wrong("the propensity must be a number, not {}", p);
  if (p == 0.0) throw place.wrong("the propensity is 0, but the action was taken");
  if (!(p > 0.0 && p <= 1.0 + 1e-6)) throw place.wrong("the propensity must be above 0 and at most 1, not {}", p);
  row.propensity = std::min(p, 1.0);
}

void LogBuilder::check_shape(const RoundRow& row, const Place& place) {
  const bool all = !row.propensities.empty();
  if (first_) {
    first_line_ = place.line;
    data_.context_size = row.x.size();
    data_.action_features = row.features.empty() ? 0 : row.features.size() / K();
    with_all_ = all;
    with_allowed_ = !row.allowed.empty();
    with_means_ = !row.means.empty();
    first_ = false;
  }
  if (row.x.size() != data_.context_size) {
    throw place.wrong("the context has {} numbers, but {} in line {}", row.x.size(), data_.context_size, first_line_);
  }
  if (all != with_all_) {
    throw place.wrong("propensities of all actions are {} here, unlike line {}", all ? "given" : "missing",
                      first_line_);
  }
  if (row.means.size() != (with_means_ ? K() : 0)) {
    throw place.wrong("{} mean rewards for {} actions", row.means.size(), with_means_ ? K() : 0);
  }
  if (row.features.size() != data_.action_features * K()) {
    throw place.wrong("the features of {} actions must be {} numbers, not {}", K(), data_.action_features * K(),
                      row.features.size());
  }
  if (row.policies.size() != policies_.size()) {
    throw place.wrong("{} policies are given, not {}", row.policies.size(), policies_.size());
  }
}

void LogBuilder::add(RoundRow row, const Place& place) {
  check_numbers(row, place);
  check_mask(row, place);
  check_propensity(row, place);
  for (std::size_t j = 0; j < row.policies.size(); ++j) {
    check_probabilities(row.policies[j], fmt::format("policy '{}'", policies_[j].name), row, place);
  }
  check_shape(row, place);
  if (!is_cold_start(row)) append(row);
}

// Counts certain decisions. One that could take a single action was no decision.
bool LogBuilder::is_cold_start(const RoundRow& row) {
  const bool one = !row.allowed.empty() && std::ranges::count(row.allowed, 0) + 1 == static_cast<std::ptrdiff_t>(K());
  const bool certain = *row.propensity == 1.0 && !one && (K() > 1 || !closed_);
  started_ = started_ || !certain;
  if (certain) ++(started_ ? counts_.certain : counts_.cold_start);
  return certain && !started_;
}

void LogBuilder::append(RoundRow& row) {
  const auto add_to = [](auto& column, const auto& values) {
    column.insert(column.end(), values.begin(), values.end());
  };
  data_.actions.push_back(row.action);
  data_.rewards.push_back(row.reward);
  data_.propensities.push_back(*row.propensity);
  add_to(data_.contexts, row.x);
  for (const double p : row.propensities) data_.all_propensities.push_back(static_cast<float>(p));
  if (!row.allowed.empty() && !with_allowed_) {
    for (const std::uint32_t width : widths_) data_.allowed.insert(data_.allowed.end(), width, 1);
    with_allowed_ = true;
  }
  if (with_allowed_ && row.allowed.empty()) row.allowed.assign(K(), 1);
  add_to(data_.allowed, row.allowed);
  add_to(data_.features, row.features);
  add_to(data_.true_means, row.means);
  for (std::size_t j = 0; j < row.policies.size(); ++j) add_to(policies_[j].probabilities, row.policies[j]);
  widths_.push_back(static_cast<std::uint32_t>(K()));
}

// Rows of as many actions as there were then, as rows of K.
template <class T>
std::vector<T> LogBuilder::in_columns(const std::vector<T>& ragged, std::size_t each, T missing) const {
  const std::size_t row = K() * each;
  if (ragged.empty() || ragged.size() == widths_.size() * row) return ragged;
  std::vector<T> all(widths_.size() * row, missing);
  std::size_t from = 0;
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    const std::size_t size = widths_[i] * each;
    std::copy_n(ragged.begin() + static_cast<std::ptrdiff_t>(from), size,
                all.begin() + static_cast<std::ptrdiff_t>(i * row));
    from += size;
  }
  return all;
}

// Actions that were named by numbers as they came: 0, 1, 2, ... up to the largest.
void LogBuilder::sort_numbers(LoggedData& data) const {
  if (closed_ || !std::ranges::all_of(names_, whole)) return;
  std::size_t largest = 0;
  std::vector<Action> number;
  for (const std::string& name : names_) {
    number.push_back(static_cast<Action>(std::stoul(name)));
    largest = std::max<std::size_t>(largest, number.back());
  }
  for (Action& a : data.actions) a = number[a];
  data.action_names.clear();
  for (std::size_t a = 0; a <= largest; ++a) data.action_names.push_back(std::to_string(a));
}

LoggedData LogBuilder::finish(const std::string& file) {
  if (widths_.empty()) {
    if (counts_.cold_start > 0) {
      throw bad_input(
          "'{}': all {} decisions were certain (propensity 1), so the log says nothing of other actions; a log needs "
          "chance, as a floor gives it",
          file, counts_.cold_start);
    }
    if (counts_.waiting > 0) {
      throw bad_input(
          "'{}' has no rounds with a final reward yet: {} decisions wait for their rewards or for the end of their "
          "window",
          file, counts_.waiting);
    }
    throw bad_input("'{}' has no rounds with a reward", file);
  }
  LoggedData data = std::move(data_);
  data.action_names = names_;
  data.context_names = context_names_;
  data.all_propensities = in_columns<float>(data.all_propensities, 1, 0.0F);
  const bool grew = widths_.front() != K();
  if (with_allowed_ || (grew && closed_)) {
    if (!with_allowed_) {
      for (const std::uint32_t width : widths_) data.allowed.insert(data.allowed.end(), width, 1);
    }
    data.allowed = in_columns<std::uint8_t>(data.allowed, 1, 0);
  }
  data.features = in_columns<float>(data.features, data.action_features, 0.0F);
  for (LoggedPolicy& policy : policies_) policy.probabilities = in_columns<double>(policy.probabilities, 1, 0.0);
  data.policies = std::move(policies_);
  data.counts = counts_;
  if (!with_allowed_ && data.all_propensities.empty() && data.policies.empty()) sort_numbers(data);
  return data;
}

}  // namespace pits
