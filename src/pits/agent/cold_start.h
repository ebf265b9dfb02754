// How the first pulls of actions are forced (forced_pulls.h).
#pragma once

#include "pits/core/enum_names.h"

namespace pits {

enum class ColdStart { round_robin, uniform };
template <>
inline constexpr auto enum_names<ColdStart> = std::array{"round-robin", "uniform"};

}  // namespace pits
