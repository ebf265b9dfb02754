#include "pits/log/reward_range.h"

#include "pits/core/fields.h"

namespace pits {
namespace {

template <class Number>
RewardRange parse(std::string_view text) {
  const std::size_t comma = text.find(',');
  Number low{}, high{};
  try {
    if (comma == std::string_view::npos) throw bad_input("one number");
    parse_value(text.substr(0, comma), low);
    parse_value(text.substr(comma + 1), high);
    check_value(low, any_number());
    check_value(high, any_number());
  } catch (const Error&) {
    throw bad_input("a range of rewards must be two numbers, LOW,HIGH, as 0,1 is, not '{}'", text);
  }
  return {.low = low, .high = high};
}

}  // namespace

RewardRange parse_reward_range(std::string_view text) { return parse<double>(text); }

RewardRange log_reward_range(std::string_view text) {
  const RewardRange range = parse<float>(text);
  if (range.width() <= 0.0) throw bad_input("the reward range must go up, and {} does not", text);
  return range;
}

void parse_value(std::string_view text, std::optional<RewardRange>& out) {
  out = text.empty() ? std::nullopt : std::optional(log_reward_range(text));
}

std::string format_value(const std::optional<RewardRange>& range) {
  if (!range) return {};
  return format_value(static_cast<float>(range->low)) + "," + format_value(static_cast<float>(range->high));
}

}  // namespace pits
