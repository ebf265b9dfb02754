// Standardisation of one number, for the CPU and the GPU.
#pragma once

#include "pits/core/host_device.h"

namespace pits {

// A number further from the mean than this many standard deviations counts as this far: a column that was constant
// until now, or that has one huge number in it, must not drown the others.
constexpr double furthest = 10.0;

PITS_HOST_DEVICE inline float standardise(float x, double shift, double factor) {
  const double z = (x - shift) * factor;
  return static_cast<float>(z < -furthest ? -furthest : furthest < z ? furthest : z);
}

}  // namespace pits
