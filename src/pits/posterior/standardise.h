// The kinds of units, and standardisation of one number, for the CPU and the GPU.
#pragma once

#include "pits/core/enum_names.h"
#include "pits/core/host_device.h"

namespace pits {

enum class UnitsKind { raw, standardised, robust };
template <>
inline constexpr auto enum_names<UnitsKind> = std::array{"raw", "standardised", "robust"};

// A number further from the mean than this many standard deviations counts as this far: a column that was constant
// until now, or that has one huge number in it, must not drown the others.
constexpr double furthest = 10.0;

PITS_HOST_DEVICE inline float standardise(float x, double shift, double factor) {
  const double z = (x - shift) * factor;
  return static_cast<float>(z < -furthest ? -furthest : furthest < z ? furthest : z);
}

}  // namespace pits
