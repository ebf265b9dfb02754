// Groups of events that mean nothing, and what they say.
#pragma once

#include "pits/log/store.h"

namespace pits::test {

inline std::string group_of(DecisionId id, int events = 1) {
  GroupWriter writer;
  for (int i = 0; i < events; ++i) writer.add(IdsReserved{.end = id});
  return writer.finish({.utc = 5, .elapsed = 6});
}

inline DecisionId value_at(const Store& store, EventNumber number) {
  return std::get<IdsReserved>(store.group_holding(number).value().event(number)).end;
}

}  // namespace pits::test
