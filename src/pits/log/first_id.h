// Where the ids of a log start that must not give those of another one again: at the microseconds since 2020.
#pragma once

#include <algorithm>

#include "pits/log/event.h"

namespace pits {

inline DecisionId first_id(Microseconds utc) {
  constexpr Microseconds start_of_2020 = 1'577'836'800'000'000;
  return static_cast<DecisionId>(std::max<Microseconds>(utc - start_of_2020, 0));
}

}  // namespace pits
