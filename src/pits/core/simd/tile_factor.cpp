#include <algorithm>

#include "pits/core/error.h"
#include "pits/core/simd/tile_parts.h"
#include "pits/core/simd/tiles.h"

#if defined(PITS_HAS_TILES)
#include <immintrin.h>
#endif

namespace pits {

using namespace tiles;

void TileFactor::reshape(std::size_t k, std::size_t n) {
  if (k == k_ && n == n_) return;
  k_ = k, n_ = n;
  tiles_.assign(divided_up(k, depth) * divided_up(n, width) * tile_words, 0);
}

void TileFactor::reserve(std::size_t k, std::size_t n) {
  tiles_.reserve(divided_up(k, depth) * divided_up(n, width) * tile_words);
}

// Blocks of steps, in them tiles of columns, in them steps: the order of tile_product.
std::size_t TileFactor::offset(std::size_t step, std::size_t column_tile) const {
  const std::size_t first = step - step % block_steps;
  const std::size_t in_block = std::min(block_steps, divided_up(k_, depth) - first);
  return (first * divided_up(n_, width) + column_tile * in_block + (step - first)) * tile_words;
}

#if defined(PITS_HAS_TILES)

namespace {

// Pairs (r0[j], r1[j]) side by side.
PITS_TILES void pack_pair(const float* r0, const float* r1, std::uint32_t* out) {
  for (std::size_t j = 0; j < width; ++j) out[j] = Rest{r0[j]}.take() | Rest{r1[j]}.take() << 16;
}

PITS_TILES void pack_tile(ConstMatrixView<float> b, std::size_t l, std::size_t j, std::uint32_t* out) {
  const std::size_t rows = std::min(depth, b.rows() - l), cols = std::min(width, b.cols() - j);
  const PaddedRow zeros;
  for (std::size_t i = 0; i < rows; i += 2, out += width) {
    const float* r0 = &b(l + i, j);
    const float* r1 = i + 1 < rows ? &b(l + i + 1, j) : zeros.x;
    if (cols == width) {
      pack_pair(r0, r1, out);
    } else {
      pack_pair(PaddedRow(r0, cols).x, PaddedRow(r1, cols).x, out);
    }
  }
}

// Turns a square of 16 × 16 words: a butterfly over the bits of the index.
PITS_TILES void turn(const std::uint16_t* from, std::uint32_t* to) {
  __m512i r[width];
  for (std::size_t i = 0; i < width; ++i) r[i] = _mm512_loadu_si512(from + i * depth);
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#pragma GCC unroll 4
  for (std::size_t bit = width / 2; bit > 0; bit /= 2) {
    const __m512i b = _mm512_set1_epi32(static_cast<int>(bit)), second = _mm512_set1_epi32(width);
    const __mmask16 high = _mm512_test_epi32_mask(lane, b);
    const __m512i crossed = _mm512_xor_si512(lane, b);
    const __m512i upper = _mm512_mask_or_epi32(lane, high, crossed, second);
    const __m512i lower = _mm512_mask_or_epi32(crossed, high, lane, second);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < width; ++i) {
      if ((i & bit) != 0) continue;
      const __m512i above = r[i], below = r[i + bit];
      r[i] = _mm512_permutex2var_epi32(above, upper, below);
      r[i + bit] = _mm512_permutex2var_epi32(above, lower, below);
    }
  }
  for (std::size_t i = 0; i < width; ++i) _mm512_storeu_si512(to + i * width, r[i]);
}

// B's tile from b = Bᵀ: its columns are rows of b, in which pairs lie side by side already.
PITS_TILES void pack_turned(ConstMatrixView<float> b, std::size_t l, std::size_t j, std::uint32_t* out) {
  const std::size_t cols = std::min(width, b.rows() - j), rows = std::min(depth, b.cols() - l);
  std::uint16_t numbers[width * depth] = {};
  for (std::size_t q = 0; q < cols; ++q) {
    if (rows == depth) {
      split<1>(&b(j + q, l), numbers + q * depth, 0);
    } else {
      split<1>(PaddedRow(&b(j + q, l), rows).x, numbers + q * depth, 0);
    }
  }
  turn(numbers, out);
}

// pack(l, j) for the first row l and the first column j of every tile
template <class Pack>
void for_tiles(std::size_t k, std::size_t n, const Pack& pack) {
  for (std::size_t l = 0; l < k; l += depth) {
    for (std::size_t j = 0; j < n; j += width) pack(l, j);
  }
}

}  // namespace

void TileFactor::pack(ConstMatrixView<float> b) {
  reshape(b.rows(), b.cols());
  for_tiles(k_, n_, [&](std::size_t l, std::size_t j) { pack_tile(b, l, j, &tiles_[offset(l / depth, j / width)]); });
}

void TileFactor::pack_transposed(ConstMatrixView<float> b) {
  reshape(b.cols(), b.rows());
  for_tiles(k_, n_, [&](std::size_t l, std::size_t j) { pack_turned(b, l, j, &tiles_[offset(l / depth, j / width)]); });
}

#else

void TileFactor::pack(ConstMatrixView<float>) { throw failed("this machine has no tile registers"); }
void TileFactor::pack_transposed(ConstMatrixView<float>) { throw failed("this machine has no tile registers"); }

#endif

}  // namespace pits
