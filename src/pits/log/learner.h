// Learns from a log: the state after events 1..n, for any n, from a snapshot or from the first event. Serving, recovery
// and replay are this one function of the log.
#pragma once

#include <map>

#include "pits/bandit/bandit.h"
#include "pits/log/store.h"

namespace pits {

class Learner {
 public:
  explicit Learner(const Store& store);  // from the first event
  Learner(const Store& store, const Snapshot& start);

  // Learns the events up to `until`, or to the end of the log. An outcome that the agent refuses is counted and left
  // out, now and in every replay.
  void follow(EventNumber until);

  EventNumber number() const { return number_; }  // of the last event that was learned
  const Bandit& bandit() const { return bandit_; }
  std::string saved() const { return bandit_.saved(); }
  std::uint64_t refused() const { return refused_; }
  const std::string& refusal() const { return refusal_; }  // the last one

 private:
  void apply(EventNumber number, const Event& event);
  void learn(const Settled& settled);
  void remember(const Decided& decided);
  Decided take(const Settled& settled);

  const Store& store_;
  EventNumber number_ = 0;
  Bandit bandit_;
  std::uint64_t refused_ = 0;
  std::string refusal_;
  // Decisions that have not settled, those of the highest ids; the others are read from the store.
  std::map<DecisionId, Decided> waiting_;
  std::size_t bytes_ = 0;
};

// The newest snapshot up to an event; none: a learner starts from the first event.
std::optional<Snapshot> newest_snapshot(const Store& store, EventNumber at_most);

}  // namespace pits
