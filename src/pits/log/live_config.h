// The settings of a live bandit, which its log records.
#pragma once

#include "pits/core/fields.h"
#include "pits/log/event.h"
#include "pits/log/reward_range.h"

namespace pits {

// Which of a decision's rewards counts. Sum and largest settle when the window closes, in the order of the decisions.
// The first settles on arrival: where most decisions get no reward, those that do are learned first and the others a
// window later, which an agent that looks for changes takes for one.
enum class RewardRule { first, sum, largest };
template <>
inline constexpr auto enum_names<RewardRule> = std::array{"first", "sum", "largest"};

// When networks are trained: beside the rewards, on a copy that is adopted later, or in line, before the next outcome
// is learned.
enum class TrainingPlace { beside, in_line };
template <>
inline constexpr auto enum_names<TrainingPlace> = std::array{"beside", "in-line"};

struct LiveConfig {
  double floor = 0.02;                       // the least share of decisions made uniformly; fixed once a log exists
  int propensity_draws = 1000;               // simulated decisions, where probabilities have no closed form; fixed
  RewardRule rewards = RewardRule::largest;  // which of them counts
  double window = 600.0;                     // seconds in which rewards are taken; 0: for ever
  double default_reward = 0.0;               // of a decision whose window closed without a reward
  bool activation = false;                   // decisions count only once they are activated or rewarded
  int most_rewards = 1000;                   // of one decision; further ones are answered `full`
  double retention = 0.0;                    // days after which contexts of settled decisions are erased; 0: never
  double event_retention = 0.0;              // days after which events are dropped that nothing needs; 0: never
  TrainingPlace training = TrainingPlace::beside;  // fixed once a log exists
  std::optional<RewardRange> reward_range{};       // rewards outside are refused; none: any are taken
};
Fields fields(LiveConfig& config);

// Throws where fields contradict each other.
void check(const LiveConfig& config);
TextFields as_text(const LiveConfig& config);
// Logs of before there was `training` trained in line.
LiveConfig live_config(const TextFields& text);

// What computes: the version, the revision, the compiler with its flags, and last the SIMD target. Equal engines give
// equal bits. (Two builds of a changed working tree, whose revision ends with -dirty, are not told apart.)
std::string engine_name();

}  // namespace pits
