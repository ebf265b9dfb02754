// Events as lines of JSON: {"number": 7, "utc": MICROSECONDS, "elapsed": MICROSECONDS, "event": "settled", FIELDS}.
#pragma once

#include <unordered_set>

#include "pits/log/store.h"

namespace pits {

struct TimedEvent {
  EventNumber number = 0;
  GroupTime time;
  Event event;
};

std::string to_json(const TimedEvent& event);
// An Error says what is wrong with the line.
TimedEvent event_from_json(std::string_view line);

// Writes lines of events to an empty store: the same groups, numbers and times. Refuses outcomes whose contexts were
// erased: what was learned of them is only in snapshots.
class LogImport {
 public:
  explicit LogImport(Store& store);
  void add(const TimedEvent& event);
  EventNumber finish();  // the number of the last event

 private:
  void check_erased(const Event& event);
  void commit();

  Store& store_;
  EventNumber last_ = 0;
  GroupTime time_;
  GroupWriter group_;
  std::vector<std::pair<std::string, DecisionId>> keys_;
  std::size_t context_size_ = 0;
  bool candidates_ = false;
  std::unordered_set<DecisionId> erased_;  // decisions that have not settled
};

}  // namespace pits
