// How numbers are taken apart and laid out for the tile registers; for tile_factor.cpp and tile_product.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__linux__)
#define PITS_HAS_TILES
// Of a function that runs only where machine_has_tiles().
#define PITS_TILES __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,amx-tile,amx-bf16")))
#endif

namespace pits::tiles {

// A step multiplies up to 16 × 32 numbers of A by 32 × 16 of B, whose tile has pairs of rows side by side.
constexpr std::size_t depth = 32, width = 16, most_rows = 16;
constexpr std::size_t tile_words = depth / 2 * width;  // of two numbers each
// Steps in a row: A's tiles for so many, four of them in three parts, stay in an L1 cache of 48 KiB.
constexpr std::size_t block_steps = 4;

constexpr std::size_t divided_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

#if defined(PITS_HAS_TILES)

// What is left of a number while its parts are taken.
struct Rest {
  float x;
  PITS_TILES std::uint32_t take() {
    const std::uint32_t bits = (std::bit_cast<std::uint32_t>(x) + 0x8000U) & 0xFFFF0000U;
    x -= std::bit_cast<float>(bits);
    return bits >> 16;
  }
};

// out[p·stride + l] = part p of x[l] for the `depth` numbers of a row
template <std::size_t parts>
PITS_TILES inline void split(const float* x, std::uint16_t* out, std::size_t stride) {
  for (std::size_t l = 0; l < depth; ++l) {
    Rest rest{x[l]};
    for (std::size_t p = 0; p < parts; ++p) out[p * stride + l] = static_cast<std::uint16_t>(rest.take());
  }
}

// The first `count` numbers of a row and zeros, where it has fewer than `depth` left.
struct PaddedRow {
  float x[depth] = {};
  PaddedRow() = default;
  PaddedRow(const float* from, std::size_t count) { std::copy_n(from, count, x); }
};

#endif

}  // namespace pits::tiles
