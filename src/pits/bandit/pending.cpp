#include "pits/bandit/pending.h"

#include <algorithm>

namespace pits {

void PendingDecisions::add(DecisionId id, PendingDecision decision) {
  if (!waiting_.emplace(id, std::move(decision)).second) throw failed("two decisions have the id {}", id);
  next_id_ = std::max(next_id_, id + 1);
}

const PendingDecision* PendingDecisions::find(DecisionId id) const {
  if (id >= next_id_) {
    throw bad_input("no decision has the id {}; {}", id,
                    next_id_ == 0 ? "none was made yet" : fmt::format("the last one was {}", next_id_ - 1));
  }
  const auto found = waiting_.find(id);
  return found == waiting_.end() ? nullptr : &found->second;
}

std::optional<DecisionId> PendingDecisions::overdue(std::uint64_t rounds) const {
  if (waiting_.empty() || next_id_ - waiting_.begin()->first < rounds) return std::nullopt;
  return waiting_.begin()->first;
}

void PendingDecisions::state(Archive& archive) {
  std::vector<std::pair<DecisionId, PendingDecision>> waiting(waiting_.begin(), waiting_.end());
  archive.version("PendingDecisions", 1)(next_id_, waiting);
  if (archive.reading()) waiting_ = {waiting.begin(), waiting.end()};
}

}  // namespace pits
