// Where a live bandit keeps its log. A store keeps bytes; what they mean is said in event.h, ledger.h and learner.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pits/log/group.h"

namespace pits {

// What the learner knew after events 1..number: a cache, which the events can always give again.
struct Snapshot {
  EventNumber number = 0;
  std::string engine{};  // that computed it
  bool base = false;     // never dropped: the events before it cannot give it again
  std::string bytes{};
};

// What servers besides the learner decide by, after events 1..number; of a fleet only.
struct PolicyVersion {
  EventNumber number = 0;
  std::string engine{};  // that learned it
  std::string policy{};  // Bandit::saved_policy()
  std::string books{};   // what else they need to know (live_bandit.h)
};

// Calls that another server has left in the database, and their answers.
struct TakenCalls {
  std::int64_t sender = 0, number = 0;
  std::string answers{};  // empty: nobody waits for them
};

// What becomes durable together, or not at all.
struct Commit {
  EventNumber first = 0;  // of the group
  std::string group{};    // bytes of a GroupWriter; may be empty
  std::vector<std::pair<std::uint64_t, std::string>>
      pages{};                                             // of the index of decisions, which replace those of before
  std::vector<std::pair<std::string, DecisionId>> keys{};  // callers' names of decisions
  std::optional<std::string> recovery{};                   // where the ledger's recovery starts
  std::vector<TakenCalls> taken{};                         // of a fleet only
};

// commit() and rest() are for one thread, the others for any. Every failure is an Error that names the file and the
// reason; after a failed commit() nothing of it can be read, and another one may be tried.
class Store {
 public:
  virtual ~Store() = default;

  virtual void commit(const Commit& commit) = 0;
  // Between commits, while nobody waits for one: what would delay a later one may be done now.
  virtual void rest() {}
  // The last group whose first event has at most this number.
  virtual std::optional<GroupReader> group(EventNumber number) const = 0;
  // Empty where there is none.
  virtual std::string page(std::uint64_t page) const = 0;
  virtual std::string recovery() const = 0;
  virtual std::optional<DecisionId> decision_of(std::string_view key) const = 0;

  virtual void keep(const Snapshot& snapshot) = 0;
  virtual void drop_snapshot(EventNumber number) = 0;
  // Without their bytes, oldest first.
  virtual std::vector<Snapshot> snapshots() const = 0;
  virtual Snapshot snapshot(EventNumber number) const = 0;
  // Why the snapshots that were there cannot be read, and where they are now; empty: nothing is wrong.
  virtual std::string damage() const { return {}; }
  // Takes the place of the one before.
  virtual void publish(const PolicyVersion&) {}

  // Replaces the bytes of the group that starts at `first` and forgets the keys; for erasing contexts.
  virtual void rewrite(EventNumber first, std::string_view group, const std::vector<std::string>& forgotten_keys) = 0;

  // Drops the groups before `oldest`, which starts one, but for the first, whose bytes are replaced by a summary of
  // them; and forgets the keys.
  virtual void drop_events(EventNumber oldest, std::string_view summary,
                           const std::vector<std::string>& forgotten_keys) = 0;
  // The first event after those that were dropped; 0: none were.
  virtual EventNumber oldest() const = 0;

  EventNumber last() const;  // number of the last event; 0: none
  // None beyond the last event, and where the event was dropped.
  std::optional<GroupReader> group_holding(EventNumber number) const;
  // The same, or the first one that is kept after a dropped event.
  std::optional<GroupReader> group_from(EventNumber number) const;
};

// The first event of a log. Throws where the store holds none.
Created created_event(const Store& store);
// The events of a decision in order, the first a Decided, given its latest one. Those that were dropped are left out.
std::vector<Event> chain(const Store& store, EventNumber latest);
// Calls see(number, time, event) for every event, in order; where old ones were dropped, for what sums them up and then
// for the others.
void for_each_event(const Store& store, const std::function<void(EventNumber, const GroupTime&, const Event&)>& see);

}  // namespace pits
