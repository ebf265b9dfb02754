// How the first pulls of actions are forced (forced_pulls.h). Plain, so that the GPU's code includes it.
#pragma once

#include <cstdint>

#include "pits/core/enum_names.h"

namespace pits {

enum class ColdStart { round_robin, uniform };
template <>
inline constexpr auto enum_names<ColdStart> = std::array{"round-robin", "uniform"};

// uniform: n pulls of each of k actions are forced for at most this many times n·k rewards. Without floors, masks and
// delays, 1 would do.
constexpr std::uint64_t cold_patience = 10;

}  // namespace pits
