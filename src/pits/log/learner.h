// Learns from a log: the state after events 1..n, for any n, from a snapshot or from the first event. Serving, recovery
// and replay are this one function of the log.
#pragma once

#include <map>
#include <stop_token>

#include "pits/agent/training_beside.h"
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

  EventNumber number() const { return number_; }    // of the last event that was learned
  EventNumber changed() const { return changed_; }  // the last of them that changed how the bandit decides
  // An engine has changed since the state from which it started: another engine has learned some of these events, with
  // other bits.
  bool engine_changed() const { return engine_changed_; }
  const Bandit& bandit() const { return bandit_; }
  // What the state is made of; not all of it while a training is under way, which has a copy of its own.
  std::string saved() const { return bandit_.saved(); }

  // The training that has begun and is not adopted yet; null: none. Another thread may train() it; where none does, it
  // is trained when the log says that it was adopted.
  TrainingBeside* training() { return training_.get(); }
  EventNumber training_began() const { return began_; }
  // Whether the next one should begin.
  bool training_due() const { return !training_ && beside_ && bandit_.agent().training_due(); }
  void drop_training() { training_.reset(); }

  std::uint64_t refused() const { return refused_; }
  const std::string& refusal() const { return refusal_; }  // the last one

 private:
  Learner(const Store& store, EventNumber number, Bandit bandit);
  void apply(EventNumber number, Event event);
  void learn(const Settled& settled);
  void add_actions(EventNumber number, const ActionsAdded& added);
  void adopt(EventNumber number, const TrainingAdopted& adopted);
  void remember(DecisionId id, PackedEvent decision);
  Decided take(const Settled& settled);

  const Store& store_;
  EventNumber number_ = 0, changed_ = 0;
  Bandit bandit_;
  bool beside_;  // trainings
  bool engine_changed_ = false;
  std::unique_ptr<TrainingBeside> training_;
  EventNumber began_ = 0;  // of the training
  std::uint64_t refused_ = 0;
  std::string refusal_;
  std::optional<GroupReader> group_;  // that it is in the middle of: reading it checks all of its bytes
  // Decisions that have not settled, those of the highest ids, unread: many never get a reward. The others are read
  // from the store.
  std::map<DecisionId, PackedEvent> waiting_;
  std::size_t bytes_ = 0;
};

// The newest snapshot up to an event; none: a learner starts from the first event.
std::optional<Snapshot> newest_snapshot(const Store& store, EventNumber at_most);
// From that snapshot; none where it cannot be read, and why.
std::optional<Learner> started(const Store& store, EventNumber snapshot, std::string& why);

// The state after all events, from the newest snapshot that can be read, or from the first event. The others are
// dropped: they are damaged, or later than the log. `problem` says so; empty: nothing was wrong. A recovery that takes
// long keeps snapshots on the way: where it is stopped, which is an Error, the next one starts there.
Learner recovered(Store& store, std::string& problem, const std::stop_token& stop = {});

}  // namespace pits
