// Time for a live bandit, which tests replace.
#pragma once

#include "pits/log/event.h"

namespace pits {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Microseconds utc() const = 0;     // since 1970; may jump in both directions
  virtual Microseconds steady() const = 0;  // since anywhere; never falls while the process runs
};

const Clock& system_clock();

}  // namespace pits
