// Decisions that wait for their rewards, which may come late, out of order, twice or never.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "pits/agent/agent.h"

namespace pits {

struct PendingDecision {
  std::vector<float> x;
  Action action = 0;
  std::vector<float> z{};  // the action's features, where the decision came with them

  void state(Archive& archive) { archive(x, action, z); }
};

class PendingDecisions {
 public:
  DecisionId next_id() const { return next_id_; }
  std::size_t size() const { return waiting_.size(); }

  // Later ids follow this one. An id that waits already is an Error.
  void add(DecisionId id, PendingDecision decision);
  // Null for a decision that has had its reward; an id that was never given is an Error.
  const PendingDecision* find(DecisionId id) const;
  void remove(DecisionId id) { waiting_.erase(id); }
  // The oldest decision, where it was made at least `rounds` decisions ago.
  std::optional<DecisionId> overdue(std::uint64_t rounds) const;

  void state(Archive& archive);

 private:
  DecisionId next_id_ = 0;
  std::map<DecisionId, PendingDecision> waiting_;
};

}  // namespace pits
