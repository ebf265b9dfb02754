// The products of a narrow network as those of float32, by TF32 products split in three. Included by score_narrow.cu
// alone.
#pragma once

#include "pits/cuda/score/narrow_block.cuh"

namespace pits::cuda::narrow {

template <class S>
class Floats {
 public:
  static constexpr bool accurate = true;
  static constexpr int bytes = 4;  // of a factor

  __device__ Floats(const GroupView& group, int realization, const Shared& s)
      : group_(group),
        s_(s),
        contexts_(group.contexts + static_cast<std::size_t>(realization) * group.rounds * group.context_stride) {}

  // W: fragments (eight columns, tile of units, lane).
  __device__ void load_weights(const float* theta) {
    const LayerLayout& hidden = group_.network.layer[0];
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const auto two = [&](int row, int column) {
      if (row < hidden.outputs && column < hidden.stride) {
        return *reinterpret_cast<const float2*>(theta + hidden.offset + row * hidden.stride + column);
      }
      // The unit that is always 1: of the input that is 1, so much that f of it is 1.
      const float one = row == hidden.outputs ? (group_.network.tanh ? 32.0F : 1.0F) : 0.0F;
      return float2{column == hidden.inputs ? one : 0.0F, column + 1 == hidden.inputs ? one : 0.0F};
    };
    for (int i = threadIdx.x / 32; i < group_.context_stride / 8 * unit_tiles; i += S::warps) {
      const int k = i / unit_tiles, m = i % unit_tiles, column = 16 * (k / 2) + 4 * t + 2 * (k % 2);
      const float2 above = two(16 * m + g, column), below = two(16 * m + g + 8, column);
      s_.W[i * 32 + lane] = {above.x, below.x, above.y, below.y};
    }
  }

  // z(u, b) = Σ_c W(u,c) x(b,c) for the sixteen observations from `first` on; 16 columns at a time, whose summed index
  // is renamed so that a lane's four columns are one load: product 0 sums over columns 4t and 4t+1, product 1 over 4t+2
  // and 4t+3.
  __device__ void forward(int first, float (&z)[unit_tiles][own_tiles][4]) const {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int groups = group_.context_stride / 16;
    const float4* x[own_tiles];
    float4 next[own_tiles];
#pragma unroll
    for (int n = 0; n < own_tiles; ++n) {
      const std::size_t row = s_.round[first + 8 * n + g];
      x[n] = reinterpret_cast<const float4*>(contexts_ + row * group_.context_stride) + t;
      next[n] = __ldg(x[n]);
    }
    const float4* w = s_.W + lane;
#pragma unroll 1
    for (int k = 0; k < groups; ++k) {
      Operand<2, true> b[own_tiles][2];
#pragma unroll
      for (int n = 0; n < own_tiles; ++n) {
        b[n][0].set(0, next[n].x);
        b[n][0].set(1, next[n].y);
        b[n][1].set(0, next[n].z);
        b[n][1].set(1, next[n].w);
        next[n] = __ldg(x[n] + 4 * (k + 1));  // past the end too: a condition would make every load wait
      }
#pragma unroll
      for (int m = 0; m < unit_tiles; ++m) {
        const Operand<4, true> a[2] = {operand(w[m * 32]), operand(w[(unit_tiles + m) * 32])};
#pragma unroll
        for (int n = 0; n < own_tiles; ++n) multiply_add(z[m][n], a[0], b[n][0]);
#pragma unroll
        for (int n = 0; n < own_tiles; ++n) multiply_add(z[m][n], a[1], b[n][1]);
      }
      w += 2 * unit_tiles * 32;
    }
  }

  // D(u, b) of the sixteen observations from `first` on, as fragments of the next product's left factor.
  __device__ void store(int first, const float (&d)[unit_tiles][own_tiles][4]) const {
    const int lane = threadIdx.x % 32, tile = first % S::chunk / 8;
#pragma unroll
    for (int n = 0; n < own_tiles; ++n) {
#pragma unroll
      for (int u = 0; u < unit_tiles; ++u) {
        const float(&x)[4] = d[u][n];
        s_.D[((tile + n) * unit_tiles + u) * 32 + lane] = {x[0], x[2], x[1], x[3]};
      }
    }
  }

  // sum(u, c) += Σ_b D(u,b) x(b,c) over the warp's share of the chunk; observations 2t and 2t+1 of a tile stand at t
  // and t+4 of the summed index, and column n of tile q is column Tiles·n + q of the warp's, so that a lane's columns
  // are one load. Columns beyond the context's are read and never stored: contexts end with `context_slack` zeros.
  __device__ void backward(int chunk, float (&sum)[unit_tiles][S::tiles][4]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int first_column = warp % S::columns * S::tiles * 8;
    if (first_column >= group_.context_stride) return;
    const float* column = contexts_ + first_column + S::tiles * g;
    constexpr int tiles = S::chunk / 8 / S::parts;  // of this warp
    constexpr int ahead = S::tiles <= 2 && tiles % 2 == 0 ? 2 : 1;
    float next[ahead][2][S::tiles];
    const auto load = [&](int tile, float(&to)[2][S::tiles]) {
      const uint2 rounds = *reinterpret_cast<const uint2*>(s_.round + chunk + 8 * tile + 2 * t);
      load_columns(column + static_cast<std::size_t>(rounds.x) * group_.context_stride, to[0]);
      load_columns(column + static_cast<std::size_t>(rounds.y) * group_.context_stride, to[1]);
    };
    const int part = warp / S::columns;
#pragma unroll
    for (int r = 0; r < ahead; ++r) load(part + r * S::parts, next[r]);
#pragma unroll 1
    for (int first = 0; first < tiles; first += ahead) {
#pragma unroll
      for (int r = 0; r < ahead; ++r) {
        const int tile = part + (first + r) * S::parts;
        Operand<2, true> b[S::tiles];
#pragma unroll
        for (int n = 0; n < S::tiles; ++n) {
          b[n].set(0, next[r][0][n]);
          b[n].set(1, next[r][1][n]);
        }
        if (first + r + ahead < tiles) load(tile + ahead * S::parts, next[r]);
#pragma unroll
        for (int u = 0; u < unit_tiles; ++u) {
          const Operand<4, true> a = operand(s_.D[(tile * unit_tiles + u) * 32 + lane]);
#pragma unroll
          for (int n = 0; n < S::tiles; ++n) multiply_add(sum[u][n], a, b[n]);
        }
      }
    }
  }

  __device__ float sum_scale() const { return 1.0F; }
  __device__ float4 column_scales(int) const { return {1.0F, 1.0F, 1.0F, 1.0F}; }
  __device__ void start_sum() {}

 private:
  __device__ static Operand<4, true> operand(const float4& x) {
    Operand<4, true> a;
    a.set(0, x.x);
    a.set(1, x.y);
    a.set(2, x.z);
    a.set(3, x.w);
    return a;
  }

  // Two or four floats that lie side by side, in one load.
  __device__ static void load_columns(const float* from, float (&to)[2]) {
    const float2 two = __ldg(reinterpret_cast<const float2*>(from));
    to[0] = two.x, to[1] = two.y;
  }
  __device__ static void load_columns(const float* from, float (&to)[4]) {
    const float4 four = __ldg(reinterpret_cast<const float4*>(from));
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }

  const GroupView& group_;
  const Shared s_;
  const float* contexts_;
};

}  // namespace pits::cuda::narrow
