#include <algorithm>

#include "pits/core/error.h"
#include "pits/core/simd/tile_parts.h"
#include "pits/core/simd/tiles.h"

#if defined(PITS_HAS_TILES)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pits {

using namespace tiles;

namespace {

// Tiles of rows whose sums grow side by side, which hides the latency of a step.
constexpr std::size_t group_rows = 4 * most_rows;

// Rows of a group in tiles of the same height; the last may be lower.
struct Rows {
  std::size_t tiles, height, last_height;
  explicit Rows(std::size_t m)
      : tiles(divided_up(m, most_rows)), height(divided_up(m, tiles)), last_height(m - (tiles - 1) * height) {}
};

// A in the order in which the steps take it: step, part, tile of rows.
template <std::size_t parts>
PITS_TILES void pack_left(ConstMatrixView<float> a, const Rows& rows, std::uint16_t* out) {
  const std::size_t tile = rows.height * depth, part = rows.tiles * tile;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    std::uint16_t* to = out + i / rows.height * tile + i % rows.height * depth;
    std::size_t l = 0;
    for (; l + depth <= a.cols(); l += depth, to += parts * part) split<parts>(&a(i, l), to, part);
    if (l < a.cols()) split<parts>(PaddedRow(&a(i, l), a.cols() - l).x, to, part);
  }
}

// The registers: 0 to 3 for sums, 4 and 5 for tiles of A of full and of last height, 6 for B.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  TileConfig(const Rows& r, std::size_t columns) {
    const auto set = [this](std::size_t tile, std::size_t height, std::size_t bytes) {
      rows[tile] = static_cast<std::uint8_t>(height);
      row_bytes[tile] = static_cast<std::uint16_t>(bytes);
    };
    for (std::size_t t = 0; t < 4; ++t) set(t, t + 1 < r.tiles ? r.height : r.last_height, 4 * columns);
    set(4, r.height, 2 * depth);
    set(5, r.last_height, 2 * depth);
    set(6, depth / 2, 4 * columns);
  }
};

// One group of rows of A, its tiles, and where its sums go.
struct Group {
  const std::uint16_t* left;
  Rows rows;
  std::size_t parts;
  MatrixView<float> c;
};

// The numbers of the registers must stand in the code, so each of the four sums has its line.
template <std::size_t tiles>
PITS_TILES void load_sums(const float* c, std::size_t next, std::size_t row_bytes) {
  _tile_loadd(0, c, row_bytes);
  if constexpr (tiles > 1) _tile_loadd(1, c + next, row_bytes);
  if constexpr (tiles > 2) _tile_loadd(2, c + 2 * next, row_bytes);
  if constexpr (tiles > 3) _tile_loadd(3, c + 3 * next, row_bytes);
}

template <std::size_t tiles>
PITS_TILES void zero_sums() {
  _tile_zero(0);
  if constexpr (tiles > 1) _tile_zero(1);
  if constexpr (tiles > 2) _tile_zero(2);
  if constexpr (tiles > 3) _tile_zero(3);
}

template <std::size_t tiles>
PITS_TILES void store_sums(float* c, std::size_t next, std::size_t row_bytes) {
  _tile_stored(0, c, row_bytes);
  if constexpr (tiles > 1) _tile_stored(1, c + next, row_bytes);
  if constexpr (tiles > 2) _tile_stored(2, c + 2 * next, row_bytes);
  if constexpr (tiles > 3) _tile_stored(3, c + 3 * next, row_bytes);
}

// Every sum += its tile of A times the tile of B that is loaded.
template <std::size_t tiles>
PITS_TILES void multiply(const std::uint16_t* a, std::size_t tile) {
  if constexpr (tiles > 1) {
    _tile_loadd(4, a, 2 * depth);
    _tile_dpbf16ps(0, 4, 6);
  }
  if constexpr (tiles > 2) {
    _tile_loadd(4, a + tile, 2 * depth);
    _tile_dpbf16ps(1, 4, 6);
  }
  if constexpr (tiles > 3) {
    _tile_loadd(4, a + 2 * tile, 2 * depth);
    _tile_dpbf16ps(2, 4, 6);
  }
  _tile_loadd(5, a + (tiles - 1) * tile, 2 * depth);
  if constexpr (tiles == 1) _tile_dpbf16ps(0, 5, 6);
  if constexpr (tiles == 2) _tile_dpbf16ps(1, 5, 6);
  if constexpr (tiles == 3) _tile_dpbf16ps(2, 5, 6);
  if constexpr (tiles == 4) _tile_dpbf16ps(3, 5, 6);
}

// B comes from the L2 cache; the tile after this one is asked for in time, whether it is the next or not.
PITS_TILES void fetch(const std::uint32_t* tile) {
  for (std::size_t i = 0; i < tile_words; i += width) _mm_prefetch(tile + i, _MM_HINT_T0);
}

// c(·, 16j ..) over the steps of one block; the sums of the blocks before it are there already. Small parts come first.
template <std::size_t tiles>
PITS_TILES void add_block(const Group& g, const TileFactor& b, std::size_t first, std::size_t last, std::size_t j) {
  const std::size_t tile = g.rows.height * depth;
  const std::size_t next = g.rows.height * g.c.stride(), row_bytes = g.c.stride() * sizeof(float);
  float* c = g.c.data() + j * width;
  if (first == 0) {
    zero_sums<tiles>();
  } else {
    load_sums<tiles>(c, next, row_bytes);
  }
  const std::uint32_t* right = b.tile(first, j);
  for (std::size_t step = first; step < last; ++step, right += tile_words) {
    _tile_loadd(6, right, 2 * depth);
    fetch(right + tile_words);
    for (std::size_t p = g.parts; p-- > 0;) multiply<tiles>(g.left + (step * g.parts + p) * tiles * tile, tile);
  }
  store_sums<tiles>(c, next, row_bytes);
}

// The tiles of columns j .. end−1, each `columns` wide.
template <std::size_t tiles>
PITS_TILES void multiply_columns(const Group& g, const TileFactor& b, std::size_t j, std::size_t end,
                                 std::size_t columns) {
  if (j == end) return;
  const TileConfig config(g.rows, columns);
  _tile_loadconfig(&config);
  const std::size_t steps = divided_up(b.k(), depth);
  for (std::size_t first = 0; first < steps; first += block_steps) {
    for (std::size_t t = j; t < end; ++t) add_block<tiles>(g, b, first, std::min(first + block_steps, steps), t);
  }
  _tile_release();
}

template <std::size_t tiles>
void multiply_group(const Group& g, const TileFactor& b) {
  const std::size_t whole = b.n() / width;
  multiply_columns<tiles>(g, b, 0, whole, width);
  multiply_columns<tiles>(g, b, whole, divided_up(b.n(), width), b.n() % width);
}

void multiply_rows(ConstMatrixView<float> a, LeftFactor left, const TileFactor& b, TileScratch& scratch,
                   MatrixView<float> c) {
  const Rows rows(a.rows());
  const std::size_t parts = left == LeftFactor::exact ? 3 : 1;
  scratch.left.resize(divided_up(a.cols(), depth) * parts * rows.tiles * rows.height * depth);
  if (left == LeftFactor::exact) {
    pack_left<3>(a, rows, scratch.left.data());
  } else {
    pack_left<1>(a, rows, scratch.left.data());
  }
  const Group g{scratch.left.data(), rows, parts, c};
  switch (rows.tiles) {
    case 1: return multiply_group<1>(g, b);
    case 2: return multiply_group<2>(g, b);
    case 3: return multiply_group<3>(g, b);
    default: return multiply_group<4>(g, b);
  }
}

// Asks for the registers' state to be saved, which Linux (5.16) does for those who ask: once for the whole process.
bool allowed_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

bool processor_has_tiles() {
  constexpr unsigned tile = 1U << 24, bf16 = 1U << 22;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & tile) != 0 && (d & bf16) != 0;
}

}  // namespace

bool machine_has_tiles() {
  static const bool has = processor_has_tiles() && allowed_tiles();
  return has;
}

void tile_product(ConstMatrixView<float> a, LeftFactor left, const TileFactor& b, TileScratch& scratch,
                  MatrixView<float> c) {
  if (a.cols() != b.k() || c.rows() != a.rows() || c.cols() != b.n()) {
    throw failed("tile_product: the shapes do not match");
  }
  if (b.k() == 0) {
    for (std::size_t i = 0; i < c.rows(); ++i) std::ranges::fill(c.row(i), 0.0F);
    return;
  }
  const std::size_t groups = divided_up(a.rows(), group_rows);
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t first = a.rows() * g / groups, count = a.rows() * (g + 1) / groups - first;
    multiply_rows(a.row_block(first, count), left, b, scratch, c.row_block(first, count));
  }
}

}  // namespace pits

#else

namespace pits {

bool machine_has_tiles() { return false; }

void tile_product(ConstMatrixView<float>, LeftFactor, const TileFactor&, TileScratch&, MatrixView<float>) {
  throw failed("this machine has no tile registers");
}

}  // namespace pits

#endif
