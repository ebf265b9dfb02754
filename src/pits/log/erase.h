// Blanks contexts, features and keys of decisions that have settled: those that somebody chose, and those that are
// older than their retention. What was blanked cannot be learned again, so a replay starts at a later snapshot.
#pragma once

#include <functional>

#include "pits/log/decision_index.h"

namespace pits {

using RecordErased = std::function<void(const Erased&)>;

// Blanks the decisions that are `chosen`, and records it, by a ledger of its own or as told. The store's newest
// snapshot must hold what was learned of them; it becomes the base of replays, and those before it are dropped. Returns
// how many were blanked. Reads the whole log.
std::uint64_t erase_contexts(Store& store, const std::string& reason,
                             const std::function<bool(DecisionId, const GroupTime&)>& chosen,
                             const RecordErased& record = {});
// The same for decisions that are named by their events, in the log's order; reads only the groups that hold them.
void erase_decisions(Store& store, const std::string& reason, const std::vector<EventNumber>& decisions,
                     const RecordErased& record = {});

// The newest snapshot, which replays start from from now on; and older ones go.
EventNumber keep_base(Store& store);
void drop_snapshots_before(Store& store, EventNumber base);

// How far retention has looked at a log, so that it reads no event again.
struct RetentionMarks {
  EventNumber decided = 0;  // decisions up to here were old, and those that had settled are blanked
  EventNumber settled = 0;  // settlements up to here were looked at
  DecisionId newest = 0;    // the highest id up to `decided`

  void state(Archive& archive) { archive(decided, settled, newest); }
};

struct RetentionLook {
  EventNumber base = 0;     // what has settled up to here was learned by a snapshot
  Microseconds before = 0;  // decisions of groups before this time that the log has counted (elapsed) are old
};

// Where decisions stand, one for each id.
using Standings = std::function<std::vector<IndexEntry>(const std::vector<DecisionId>&)>;

// The decisions to be blanked since the marks, by their events, in the log's order; moves the marks. It reads the
// decisions that have become old and the events since the last look: a decision that was old before it had settled is
// found by its settlement. A restored decision is as old as the event that restored it.
std::vector<EventNumber> overdue_decisions(const Store& store, const RetentionLook& look, const Standings& standings,
                                           RetentionMarks& marks);

}  // namespace pits
