// Forced pulls: the decisions that an agent does not make itself because actions are new.
//
// round-robin, as published: until n·K rewards are learned, decision `id` pulls action id mod K. Actions that come
// later are not forced.
//
// uniform: an action is cold while it has fewer than n rewards, but for at most 10·n·k rewards (of any action) after it
// came together with k − 1 others. A decision that allows m cold actions draws one of them, each with probability 1/m,
// unless n·m or more ids were given after the newest one whose reward is known: then the agent decides. Their rewards
// are on the way, or never come; in both cases more pulls of cold actions would bring nothing. Ids that a start of a
// live bandit skips count too: how many decisions were made is no part of what was learned. Before the first reward all
// decisions are drawn.
#pragma once

#include <vector>

#include "pits/agent/cold_start.h"
#include "pits/agent/query.h"
#include "pits/core/io/archive.h"

namespace pits {

class ForcedPulls {
 public:
  // `first` of the actions take turns.
  ForcedPulls(ColdStart rule, int pulls, std::size_t actions, std::size_t first);

  // The allowed actions of which the decision must draw one uniformly, after `events` rewards; none: the agent decides.
  void find(const Query& query, std::uint64_t events, std::vector<Action>& out) const;
  // Counts a reward, with which there are `events`.
  void learned(const Feedback& event, std::uint64_t events);
  // K grows by `count` after `events` rewards.
  void add_actions(std::size_t count, std::uint64_t events);
  void state(Archive& archive);

 private:
  struct Cold {
    Action action = 0;
    std::uint32_t rewards = 0;  // below n
    std::uint64_t until = 0;    // rewards of all actions after which it is forced no more

    void state(Archive& archive) { archive(action, rewards, until); }
  };

  ColdStart rule_;
  std::uint64_t pulls_;          // n
  std::size_t actions_, first_;  // K, and those that take turns
  DecisionId newest_ = 0;        // the largest id of a reward
  std::vector<Cold> cold_;       // in the order of actions
};

}  // namespace pits
