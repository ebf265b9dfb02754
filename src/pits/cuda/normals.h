// Numbers of a stream by their place in it, as core/random.h draws them one after the other.
#pragma once

#include <cmath>

#include "pits/core/philox.h"

namespace pits::cuda {

// As Stream::uniform: 52 bits and half a unit.
PITS_HOST_DEVICE inline double uniform(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32 | low) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

// Normal number q of a stream: Box-Muller takes the four words of a block for every two of them, as Stream::normal.
PITS_HOST_DEVICE inline double normal(const Address& address, std::int64_t q) {
  const auto words = philox_words(address, static_cast<std::uint32_t>(q / 2));
  const double radius = sqrt(-2.0 * log(uniform(words[0], words[1])));
  const double angle = 2.0 * 3.141592653589793 * uniform(words[2], words[3]);
  return q % 2 == 0 ? radius * cos(angle) : radius * sin(angle);
}

}  // namespace pits::cuda
