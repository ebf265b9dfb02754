// Builds logged data round by round, and refuses what cannot be: every reader hands its rounds to one of these.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "pits/data/read/text_rows.h"
#include "pits/evaluate/logged_data.h"

namespace pits {

// One round as a reader found it. Lists over actions are in the order of the builder's names; shorter ones belong to
// actions that came later.
struct RoundRow {
  Action action = 0;
  double reward = 0.0;
  std::optional<double> propensity{};
  std::vector<double> propensities{};           // (K) or none
  std::vector<std::uint8_t> allowed{};          // (K) or none
  std::vector<float> x{};                       // (d)
  std::vector<float> features{};                // (K·f) or none
  std::vector<std::vector<double>> policies{};  // (K) of each of the log's policies
  std::vector<double> means{};                  // (K) or none
};

class LogBuilder {
 public:
  // Actions by name, in this order, and no others; empty: as they appear.
  explicit LogBuilder(std::vector<std::string> actions = {}, std::optional<RewardRange> range = {});

  // The number of a name; new names get the next number unless the list is closed.
  Action action(std::string_view name, const Place& place);
  void add_actions(const std::vector<std::string>& names);  // for logs that say when
  void close_actions() { closed_ = true; }
  std::size_t K() const { return names_.size(); }
  void set_policies(const std::vector<std::string>& names);
  void set_context_names(std::vector<std::string> names) { context_names_ = std::move(names); }

  // Throws what is wrong with the round, with its line.
  void add(RoundRow row, const Place& place);
  LogCounts& counts() { return counts_; }
  // The data, without certain decisions at the start. Throws where no round is left.
  LoggedData finish(const std::string& file);

 private:
  void check_numbers(const RoundRow& row, const Place& place) const;
  void check_mask(const RoundRow& row, const Place& place) const;
  void check_probabilities(const std::vector<double>& p, std::string_view what, const RoundRow& row,
                           const Place& place) const;
  void check_propensity(RoundRow& row, const Place& place) const;
  void check_shape(const RoundRow& row, const Place& place);
  bool is_cold_start(const RoundRow& row);
  void append(RoundRow& row);
  void sort_numbers(LoggedData& data) const;
  template <class T>
  std::vector<T> in_columns(const std::vector<T>& ragged, std::size_t each, T missing) const;

  std::vector<std::string> names_;
  std::unordered_map<std::string, Action> numbers_;
  bool closed_;
  std::optional<RewardRange> range_;
  std::vector<std::string> context_names_;
  std::vector<LoggedPolicy> policies_;
  LoggedData data_;
  LogCounts counts_;
  bool started_ = false;  // a decision was left to chance
  bool first_ = true;     // no row yet, also none left out
  std::size_t first_line_ = 0;
  bool with_all_ = false, with_allowed_ = false, with_means_ = false;
  std::vector<std::uint32_t> widths_;  // (n) actions that there were in each round
};

}  // namespace pits
