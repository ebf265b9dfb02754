#include "pits/log/clock.h"

#include <chrono>

namespace pits {
namespace {

template <class Source>
Microseconds now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(Source::now().time_since_epoch()).count();
}

class SystemClock : public Clock {
 public:
  Microseconds utc() const override { return now<std::chrono::system_clock>(); }
  Microseconds steady() const override { return now<std::chrono::steady_clock>(); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace pits
