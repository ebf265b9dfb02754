// A log goes on with the SIMD target it was written with: another one gives other bits.
#pragma once

#include <string>

#include "pits/log/store.h"

namespace pits {

// The engine (engine_name()) of the newest snapshot, or of the log's first event.
std::string newest_engine(const Store& store);

// While one lives, the process uses the target that an engine names, where the machine has it, PITS_SIMD names none,
// and no other pin came first. The process has one target: logs of different targets are best kept by different
// processes.
class SimdPin {
 public:
  explicit SimdPin(const std::string& engine);
  ~SimdPin();
  SimdPin(const SimdPin&) = delete;
  SimdPin& operator=(const SimdPin&) = delete;
};

}  // namespace pits
