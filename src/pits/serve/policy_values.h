// What simple policies would have earned on a live bandit's decisions: uniform choice, and each action always. Rounds
// come one by one, in the order of the decisions; only sums are kept.
//
// The weight of a round is w = π(a|x)/p. A fixed action that a decision could not take is replaced by a uniform choice
// among those it could, as in evaluate/judged_policy.h.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "pits/evaluate/intervals/confidence_sequence.h"
#include "pits/log/event.h"

namespace pits {

// What is kept of a decision until it settles.
struct JudgedRound {
  Action action = 0;
  float propensity = 1.0F;    // of the action
  std::uint32_t allowed = 1;  // how many actions it could take
  std::uint64_t mask = 0;     // bit a: it could take action a, a < shown_actions
};

// Σ over rounds of one policy.
struct PolicySums {
  double weights = 0.0, weights_squared = 0.0, rewards = 0.0, rewards_squared = 0.0;  // w, w², w r, (w r)²
  std::optional<ValueSequence> sequence{};

  void add(double weight, double reward);
  nlohmann::json json(double rounds) const;
};

class PolicyValues {
 public:
  // Intervals need to know where rewards can be. For before the first round.
  void set_range(RewardRange range);
  // Fixed actions 0..actions−1 are judged, up to `shown_actions`.
  void add(const JudgedRound& round, std::size_t actions, double reward);
  std::uint64_t rounds() const { return rounds_; }

  // Of what was logged, uniform and each fixed action, at `level`; empty without a range. It takes a while where there
  // are many rounds.
  std::vector<Interval> intervals() const;
  // `intervals` are those of now or of before: they hold at any time.
  nlohmann::json json(const std::vector<Interval>& intervals) const;

  static constexpr double level = 0.95;

 private:
  std::optional<RewardRange> range_;
  std::uint64_t rounds_ = 0, outside_ = 0;  // outside: rewards that are not in the range
  PolicySums logged_, uniform_;
  std::vector<PolicySums> fixed_;
};

}  // namespace pits
