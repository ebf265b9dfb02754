// Drops old events that nothing needs any more: their decisions have settled and a snapshot has learned them. What
// later events build on (actions, settings, reserved ids) stays, summed up in the log's first group.
#pragma once

#include "pits/log/erase.h"

namespace pits {

struct Droppable {
  EventNumber oldest = 0;  // the events before it can go; 0: none
  std::string summary{};   // the first group, with what they say
  std::uint64_t decisions = 0;
  std::vector<std::string> keys{};  // of the decisions
  bool more = false;                // perhaps, once these are gone
};

// Of the groups before look.before, those from the oldest on that can go, some ten thousand events at once. They end
// where a decision has not settled by look.base.
Droppable droppable_events(const Store& store, const RetentionLook& look, const Standings& standings);

}  // namespace pits
