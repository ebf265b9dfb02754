// Numbers of a stream by their place in it, as core/random.h draws them one after the other.
#pragma once

#include <cmath>

#include "pits/core/philox.h"
#include "pits/core/simd/normals.h"

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

// Number q of fill_normals (core/simd/normals.h).
PITS_HOST_DEVICE inline float chunk_normal(const Address& address, std::int64_t q) {
  constexpr std::int64_t chunk = normals_chunk, half = chunk / 2;
  const std::int64_t at = q - q % chunk + q % half;
  const auto uniform_at = [&](std::int64_t i) {
    const std::uint32_t word = philox_words(address, static_cast<std::uint32_t>(i / 4))[static_cast<unsigned>(i % 4)];
    return (static_cast<float>(word >> 9) + 0.5F) * 0x1p-23F;
  };
  const float radius = sqrtf(-2.0F * logf(uniform_at(at)));
  const float angle = 2.0F * 3.14159265F * (uniform_at(at + half) - 0.5F);
  return q % chunk < half ? radius * cosf(angle) : radius * sinf(angle);
}

}  // namespace pits::cuda
