// What a log can be asked afterwards: is it whole, does it give the same decisions again?
#pragma once

#include "pits/log/learner.h"

namespace pits {

struct LogSummary {
  EventNumber events = 0;
  std::uint64_t decisions = 0, rewards = 0, settled = 0, waiting = 0, trainings = 0;
  std::uint64_t restored = 0;  // of the decisions: their record was lost and came back
  std::uint64_t unlogged = 0;  // decisions that are not there: the sum of the gaps
  EventNumber oldest = 0;      // events before it were dropped, and are not among those counted; 0: none
};
// Throws where events are missing or damaged, or contradict each other: an id given twice or never reserved, a decision
// that settles twice, a chain that is broken; and where the index of decisions or the keys say something else.
LogSummary check_log(const Store& store);

struct Verification {
  std::uint64_t same = 0, different = 0;
  std::uint64_t other_engine = 0;  // made by another build or SIMD target: not comparable
  // Erased, restored (perhaps made from a log that is gone), of another bandit (Taught), or before the oldest snapshot
  // to start from.
  std::uint64_t out_of_reach = 0;
  std::vector<DecisionId> examples;  // the first that differ
};
// Makes every logged decision again: action and propensities must have the same bits.
Verification verify_log(const Store& store);

}  // namespace pits
