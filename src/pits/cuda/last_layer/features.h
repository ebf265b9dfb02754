// The features of exact last layers, a tile of observations at a time, and the sums of their products.
//
// A row of a tile is φ (F), the reward, zeros up to a multiple of four. The features of an observation do not depend on
// the tile that it is in.
#pragma once

#include "pits/cuda/last_layer/regression.h"

namespace pits::cuda {

struct alignas(16) FourFloats {
  float x[4];
};
struct alignas(16) TwoDoubles {
  double x[2];
};

PITS_HOST_DEVICE constexpr int row_stride(int features) { return round_up(features + 1, 4); }

// Floats of an observation at a layer's input: an odd number of fours, so that observations lie in different banks.
PITS_HOST_DEVICE constexpr int input_stride(const LayerLayout& layer) { return (layer.stride / 4 | 1) * 4; }

PITS_HOST_DEVICE inline int widest_input(const NetworkLayout& network) {
  int width = 0;
  for (int l = 0; l + 1 < network.layers; ++l) {
    const int here = input_stride(network.layer[l]);
    width = here > width ? here : width;
  }
  return width;
}

// Bytes of a tile's memory.
PITS_HOST_DEVICE inline std::size_t tile_bytes(const NetworkLayout& network, int features, int tile) {
  const int buffers = network.layers > 2 ? 2 : network.layers - 1;
  return static_cast<std::size_t>(tile) * (buffers * widest_input(network) * sizeof(float) +
                                           static_cast<std::size_t>(row_stride(features)) * sizeof(double));
}

constexpr std::size_t shared_limit = std::size_t{160} << 10;  // bytes that a block may take on any GPU we know

// The most observations, up to a warp's lanes, whose tile fits into shared memory; 0: not even four do.
inline int largest_tile(const NetworkLayout& network, int features) {
  for (int tile = 32; tile >= 4; tile /= 2) {
    if (tile_bytes(network, features, tile) <= shared_limit) return tile;
  }
  return 0;
}

// Memory of `size` observations: inputs of layers, of even and odd ones, and the rows.
struct Tile {
  int size;
  double* rows;      // (size,row_stride)
  float* inputs[2];  // (size,widest_input)

  PITS_HOST_DEVICE Tile(const NetworkLayout& network, int features, int tile, void* memory)
      : size(tile), rows(static_cast<double*>(memory)) {
    inputs[0] = reinterpret_cast<float*>(rows + static_cast<std::size_t>(tile) * row_stride(features));
    inputs[1] = inputs[0] + static_cast<std::size_t>(tile) * widest_input(network);
  }
};

// `count` observations of a realization: those of the rounds listed, or the rounds themselves from `first` on.
struct TileRounds {
  const float* contexts;  // (T,context_stride)
  int context_stride;
  const float* rewards_received;  // (T), or null: no rewards yet
  const std::int32_t* listed;     // or null
  int first, count;

  PITS_HOST_DEVICE std::size_t round(int b) const {
    return static_cast<std::size_t>(listed == nullptr ? first + b : listed[first + b]);
  }
};

// What does not go through the network: contexts to the first layer, and the last columns of the rows.
template <class Team>
PITS_HOST_DEVICE void take_contexts(const Team& team, const LastLayerSettings& s, const NetworkLayout& network,
                                    const TileRounds& o, const Tile& tile) {
  const int R = row_stride(s.features), from = network.layers == 1 ? 0 : s.units, columns = R - from;
  for (int e = team.thread; e < tile.size * columns; e += team.threads) {
    const int b = e / columns, c = from + e % columns;
    double value = 0.0;
    if (b < o.count && c < s.features - 1) {
      value = o.contexts[o.round(b) * o.context_stride + c - from];
    } else if (b < o.count && c == s.features - 1) {
      value = 1.0;
    } else if (b < o.count && c == s.features && o.rewards_received != nullptr) {
      value = o.rewards_received[o.round(b)];
    }
    tile.rows[b * R + c] = value;
  }
  if (network.layers == 1) return;
  const int stride = input_stride(network.layer[0]), fours = network.layer[0].stride / 4;
  for (int e = team.thread; e < tile.size * fours; e += team.threads) {
    const int b = e / fours, c = e % fours * 4;
    FourFloats x{};
    if (b < o.count) x = *reinterpret_cast<const FourFloats*>(o.contexts + o.round(b) * o.context_stride + c);
    *reinterpret_cast<FourFloats*>(tile.inputs[0] + b * stride + c) = x;
  }
}

// Hidden layer l of the tile: a thread takes four units of an observation at a time. Rows of weights are zeros from the
// last unit up to a multiple of four.
template <class Team>
PITS_HOST_DEVICE void pass_layer(const Team& team, const NetworkLayout& network, int l, const float* theta, int count,
                                 int row, const Tile& tile) {
  const LayerLayout& layer = network.layer[l];
  const bool last = l + 2 == network.layers;
  const int stride = input_stride(layer), next = last ? row : input_stride(network.layer[l + 1]);
  const float* in = tile.inputs[l % 2];
  float* out = tile.inputs[(l + 1) % 2];
  for (int e = team.thread; e < tile.size * (layer.rows / 4); e += team.threads) {
    const int b = e % tile.size, first = e / tile.size * 4;
    const float* weights = theta + layer.offset + static_cast<std::int64_t>(first) * layer.stride;
    float sum[4] = {};
    for (int c = 0; c < layer.stride; c += 4) {
      const FourFloats x = *reinterpret_cast<const FourFloats*>(in + b * stride + c);
      for (int u = 0; u < 4; ++u) {
        const FourFloats w = *reinterpret_cast<const FourFloats*>(weights + u * layer.stride + c);
        for (int i = 0; i < 4; ++i) sum[u] += w.x[i] * x.x[i];
      }
    }
    for (int u = 0; u < 4 && first + u < layer.outputs; ++u) {
      const float value = network.tanh ? tanhf(sum[u]) : fmaxf(sum[u], 0.0F);
      if (last) {
        tile.rows[b * next + first + u] = value;
      } else {
        out[b * next + first + u] = value;
      }
    }
  }
  if (last) return;
  const int rest = network.layer[l + 1].stride - layer.outputs;  // the input that is always 1, and zeros
  for (int e = team.thread; e < tile.size * rest; e += team.threads) {
    const int b = e / rest, c = e % rest;
    out[b * next + layer.outputs + c] = c == 0 && b < count ? 1.0F : 0.0F;
  }
}

// The rows of a tile; zeros beyond the observations.
template <class Team>
PITS_HOST_DEVICE void feature_rows(const Team& team, const LastLayerSettings& s, const NetworkLayout& network,
                                   const float* theta, const TileRounds& o, const Tile& tile) {
  take_contexts(team, s, network, o, tile);
  team.sync();
  for (int l = 0; l + 1 < network.layers; ++l) {
    pass_layer(team, network, l, theta, o.count, row_stride(s.features), tile);
    team.sync();
  }
}

// Row and column of number q of the lower triangle.
struct TrianglePlace {
  int row, column;
  PITS_HOST_DEVICE explicit TrianglePlace(int q) {
    row = static_cast<int>((sqrt(8.0 * q + 1.0) - 1.0) / 2.0);
    if (packed(row, 0) > q) --row;
    if (packed(row + 1, 0) <= q) ++row;
    column = q - packed(row, 0);
  }
};

constexpr int sum_side = 4;          // a thread sums squares of this many rows and columns,
constexpr int squares_together = 2;  // of which it holds this many

// Adds one row's products to a square.
PITS_HOST_DEVICE inline void add_products(const double* row, const TrianglePlace& at,
                                          double (&sum)[sum_side][sum_side]) {
  const auto* left = reinterpret_cast<const TwoDoubles*>(row + sum_side * at.row);
  const auto* right = reinterpret_cast<const TwoDoubles*>(row + sum_side * at.column);
  const TwoDoubles l[2] = {left[0], left[1]}, r[2] = {right[0], right[1]};
  for (int i = 0; i < sum_side; ++i) {
    for (int c = 0; c < sum_side; ++c) sum[i][c] += l[i / 2].x[i % 2] * r[c / 2].x[c % 2];
  }
}

// A square of sums to where they belong: Σ φφᵀ, Σ φ r, Σ r².
PITS_HOST_DEVICE inline void store_square(int F, const Regression& r, const TrianglePlace& at,
                                          const double (&sum)[sum_side][sum_side]) {
  for (int i = 0; i < sum_side; ++i) {
    for (int c = 0; c < sum_side; ++c) {
      const int row = sum_side * at.row + i, column = sum_side * at.column + c;
      if (row < F && column <= row) r.inverse[packed(row, column)] = sum[i][c];
      if (row == F && column < F) r.moment[column] = sum[i][c];
      if (row == F && column == F) r.totals->yy = sum[i][c];
    }
  }
}

// The sums of the observations listed from `all.first` on. Where a team has too few threads for all squares, it goes
// through the observations again.
template <class Team>
PITS_HOST_DEVICE void sum_up(const Team& team, const LastLayerSettings& s, const NetworkLayout& network,
                             const float* theta, const TileRounds& all, const Tile& tile, const Regression& r) {
  const int F = s.features, R = row_stride(F), squares = packed_size(R / sum_side);
  for (int done = 0; done < squares; done += squares_together * team.threads) {
    const int first = done + team.thread, second = first + team.threads, none = squares - 1;
    const TrianglePlace at[squares_together] = {TrianglePlace(first < squares ? first : none),
                                                TrianglePlace(second < squares ? second : none)};
    double sum[squares_together][sum_side][sum_side] = {};
    for (int from = 0; from < all.count; from += tile.size) {
      TileRounds o = all;
      o.first += from;
      o.count = all.count - from < tile.size ? all.count - from : tile.size;
      feature_rows(team, s, network, theta, o, tile);
      for (int b = 0; b < o.count; ++b) {
        for (int k = 0; k < squares_together; ++k) add_products(tile.rows + b * R, at[k], sum[k]);
      }
      team.sync();
    }
    if (first < squares) store_square(F, r, at[0], sum[0]);
    if (second < squares) store_square(F, r, at[1], sum[1]);
  }
  if (team.thread == 0) r.totals->n = all.count;
  team.sync();
}

}  // namespace pits::cuda
