#include "pits/log/live_config.h"

#include "pits/core/simd/kernels.h"
#include "pits/revision.h"
#include "pits/version.h"

namespace pits {

Fields fields(LiveConfig& c) {
  return Fields{}
      .add("floor", c.floor, "least share of decisions made uniformly, so that no action's probability is 0",
           between(0, 1))
      .add("propensity_draws", c.propensity_draws, "simulated decisions, where probabilities have no closed form",
           between(1, 1e9))
      .add("rewards", c.rewards, "which rewards of a decision count: the first, their sum, or the largest")
      .add("window", c.window, "seconds in which rewards are taken; 0: for ever", between(0, 1e9))
      .add("default_reward", c.default_reward, "reward of a decision whose window closed without one",
           between(-1e30, 1e30))
      .add("activation", c.activation, "whether decisions count only once they are activated or rewarded")
      .add("most_rewards", c.most_rewards, "rewards that one decision can have", between(1, 1e6))
      .add("retention", c.retention, "days after which contexts of settled decisions are erased; 0: never",
           between(0, 1e5))
      .add("event_retention", c.event_retention,
           "days after which events are dropped that nothing needs any more; 0: never", between(0, 1e5))
      .add("training", c.training, "when networks are trained: beside the rewards, or before the next is learned")
      .add("reward_range", c.reward_range, "LOW,HIGH of a reward; others are refused; empty: all are taken");
}

void check(const LiveConfig& config) {
  LiveConfig copy = config;
  checked(copy);
  if (config.window == 0.0 && config.rewards != RewardRule::first) {
    throw bad_input("rewards={} needs a window above 0, after which it settles; without a window use rewards=first",
                    format_value(config.rewards));
  }
  if (!config.reward_range) return;
  const RewardRange& range = *config.reward_range;
  if (config.window > 0.0 && !range.holds(static_cast<float>(config.default_reward))) {
    throw bad_input("default_reward={} is outside of reward_range={}", config.default_reward,
                    format_value(config.reward_range));
  }
}

TextFields as_text(const LiveConfig& config) {
  LiveConfig copy = config;
  TextFields text;
  const Fields list = fields(copy);
  for (const Field& field : list.list()) text.emplace_back(field.name, field.get());
  return text;
}

LiveConfig live_config(const TextFields& text) {
  LiveConfig config{.training = TrainingPlace::in_line};
  Fields list = fields(config);
  for (const auto& [name, value] : text) list.set(name, value);
  check(config);
  return config;
}

std::string engine_name() { return fmt::format("{} {} {} {}", version, revision, PITS_COMPILER, simd_target()); }

}  // namespace pits
