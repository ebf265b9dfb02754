// A line about this machine, for the record of a run.
#pragma once

#include <string>

namespace pits {

// Processor, hardware threads and SIMD target.
std::string machine_line();

}  // namespace pits
