#include "pits/log/reward_range.h"

#include "pits/core/fields.h"

namespace pits {

RewardRange parse_reward_range(std::string_view text) {
  const std::size_t comma = text.find(',');
  try {
    if (comma == std::string_view::npos) throw bad_input("one number");
    RewardRange range;
    parse_value(text.substr(0, comma), range.low);
    parse_value(text.substr(comma + 1), range.high);
    check_value(range.low, any_number());
    check_value(range.high, any_number());
    return range;
  } catch (const Error&) {
    throw bad_input("a range of rewards must be two numbers, LOW,HIGH, as 0,1 is, not '{}'", text);
  }
}

RewardRange log_reward_range(std::string_view text) {
  const RewardRange range = parse_reward_range(text);
  const auto low = static_cast<float>(range.low), high = static_cast<float>(range.high);
  if (!(low < high)) throw bad_input("the reward range must go up, and {} does not", text);
  return {.low = low, .high = high};
}

}  // namespace pits
