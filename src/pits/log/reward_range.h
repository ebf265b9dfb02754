// The least and the largest reward that there can be, where that is known.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pits {

struct RewardRange {
  double low = 0.0, high = 1.0;
  double width() const { return high - low; }
  bool operator==(const RewardRange&) const = default;
  bool holds(double reward) const { return reward >= low && reward <= high; }
};

// Of "LOW,HIGH": two finite numbers.
RewardRange parse_reward_range(std::string_view text);
// For the rewards of a log, which are float: a range up to 0.1 holds the reward 0.1F.
RewardRange log_reward_range(std::string_view text);

// As a field of a config: the same text; empty: unknown.
void parse_value(std::string_view text, std::optional<RewardRange>& out);
std::string format_value(const std::optional<RewardRange>& range);

}  // namespace pits
