// The products of a narrow network in float16, whose mantissa is that of TF32: every factor is scaled by a power of two
// to where its largest number is in [1,2), so what float16's range cuts off is below 2⁻²⁴ of the largest. Columns of
// contexts have a scale each (contexts.cu), a particle's weights one, the fragments of D one each. Included by
// score_narrow.cu alone.
#pragma once

#include "pits/cuda/score/narrow_block.cuh"

namespace pits::cuda::narrow {

template <class S>
class Halves {
 public:
  static constexpr bool accurate = false;
  static constexpr int bytes = 2;  // of a factor

  __device__ Halves(const GroupView& group, int realization, const Shared& s)
      : group_(group),
        s_(s),
        contexts_(group.half_contexts + static_cast<std::size_t>(realization) * group.rounds * group.context_stride),
        scales_(group.context_scale + static_cast<std::size_t>(realization) * group.context_stride) {}

  // W, every column with the scale of its contexts: fragments (sixteen columns, tile of units, lane). Columns 4t to
  // 4t+3 stand at 2t, 2t+1, 2t+8, 2t+9 of the summed index, so that a lane's are one load.
  __device__ void load_weights(const float* theta) {
    const LayerLayout& hidden = group_.network.layer[0];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    constexpr int items = (S::most_columns / 16 * unit_tiles + S::warps - 1) / S::warps;
    const int count = group_.context_stride / 16 * unit_tiles;
    float4 w[items][2];
    float largest = 0.0F;
#pragma unroll
    for (int j = 0; j < items; ++j) {
      const int i = warp + j * S::warps, column = 16 * (i / unit_tiles) + 4 * t;
      const bool inside = i < count && column < hidden.stride;
      const float4 scale = inside ? __ldg(reinterpret_cast<const float4*>(scales_ + column)) : float4{};
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = 16 * (i % unit_tiles) + g + 8 * r;
        float4 x{};
        if (inside && row < hidden.outputs) {
          x = *reinterpret_cast<const float4*>(theta + hidden.offset + row * hidden.stride + column);
        }
        x = {x.x * scale.x, x.y * scale.y, x.z * scale.z, x.w * scale.w};
        largest = fmaxf(fmaxf(largest, fmaxf(fabsf(x.x), fabsf(x.y))), fmaxf(fabsf(x.z), fabsf(x.w)));
        w[j][r] = x;
      }
    }
    const int e = exponent_of(largest_of_block(largest));
    const float f = power_of_two(-e);
    weight_scale_ = power_of_two(e);
#pragma unroll
    for (int j = 0; j < items; ++j) {
      const int i = warp + j * S::warps;
      const float4 above = w[j][0], below = w[j][1];
      if (i < count) {
        fragments(s_.W)[i * 32 + lane] = {two_halves(f * above.x, f * above.y), two_halves(f * below.x, f * below.y),
                                          two_halves(f * above.z, f * above.w), two_halves(f * below.z, f * below.w)};
      }
    }
  }

  // z(u, b) = Σ_c W(u,c) x(b,c) for the sixteen observations from `first` on. Loads run `ahead` groups of sixteen
  // columns before their products, past the end of the row too: a condition would make every load wait.
  __device__ void forward(int first, float (&z)[unit_tiles][own_tiles][4]) const {
    constexpr int ahead = S::most_columns / 16 < 4 ? S::most_columns / 16 : 4;
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, groups = group_.context_stride / 16;
    const uint2* x[own_tiles];
    uint2 next[ahead][own_tiles];
#pragma unroll
    for (int n = 0; n < own_tiles; ++n) {
      const std::size_t row = s_.round[first + 8 * n + g];
      x[n] = reinterpret_cast<const uint2*>(contexts_ + row * group_.context_stride) + t;
#pragma unroll
      for (int r = 0; r < ahead; ++r) next[r][n] = __ldg(x[n] + 4 * r);
    }
    const uint4* w = fragments(s_.W) + lane;
    const auto multiply = [&](const uint2(&b)[own_tiles]) {
#pragma unroll
      for (int m = 0; m < unit_tiles; ++m) {
        const uint4 a = w[m * 32];
#pragma unroll
        for (int n = 0; n < own_tiles; ++n) multiply_add_halves(z[m][n], a, b[n]);
      }
      w += unit_tiles * 32;
    };
    int k = 0;
#pragma unroll 1
    for (; k + ahead <= groups; k += ahead) {
#pragma unroll
      for (int r = 0; r < ahead; ++r) {
        multiply(next[r]);
#pragma unroll
        for (int n = 0; n < own_tiles; ++n) next[r][n] = __ldg(x[n] + 4 * (k + r + ahead));
      }
    }
#pragma unroll
    for (int r = 0; r < ahead - 1; ++r) {
      if (k + r < groups) multiply(next[r]);
    }
    restore(z);
  }

  // D(u, b) of the sixteen observations from `first` on, as fragments of the next product's left factor.
  __device__ void store(int first, const float (&d)[unit_tiles][own_tiles][4]) const {
    const int lane = threadIdx.x % 32, tile = first % S::chunk / 16;
    float largest = 0.0F;
#pragma unroll
    for (int i = 0; i < unit_tiles * own_tiles * 4; ++i) {
      largest = fmaxf(largest, fabsf(d[i / 8][i / 4 % 2][i % 4]));
    }
    const int e = exponent_of(largest_of_lanes(largest));
    const float f = power_of_two(-e);
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) {
      fragments(s_.D)[(tile * unit_tiles + u) * 32 + lane] = {
          two_halves(f * d[u][0][0], f * d[u][0][1]), two_halves(f * d[u][0][2], f * d[u][0][3]),
          two_halves(f * d[u][1][0], f * d[u][1][1]), two_halves(f * d[u][1][2], f * d[u][1][3])};
    }
    if (lane == 0) s_.exponent[tile] = e;
  }

  // sum(u, c) += Σ_b D(u,b) x(b,c) over the warp's share of the chunk; column n of tile q is column Tiles·n + q of the
  // warp's, so that a lane's columns are one load. Columns beyond the context's are read and never stored: contexts end
  // with `context_slack` zeros.
  __device__ void backward(int chunk, float (&sum)[unit_tiles][S::tiles][4]) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int common = common_exponent(sum);
    const int first_column = warp % S::columns * S::tiles * 8;
    if (first_column >= group_.context_stride) return;
    constexpr int tiles = S::chunk / 16 / S::parts;  // of this warp
    constexpr int ahead = tiles < 4 || S::tiles > 2 ? 2 : 4;
    static_assert(tiles % ahead == 0);
    using Columns = std::conditional_t<S::tiles == 4, uint2, std::uint32_t>;
    const __half* column = contexts_ + first_column + S::tiles * g;
    Columns next[ahead][4];
    const auto load = [&](int tile, Columns(&to)[4]) {
      const uint2 above = *reinterpret_cast<const uint2*>(s_.round + chunk + 16 * tile + 2 * t);
      const uint2 below = *reinterpret_cast<const uint2*>(s_.round + chunk + 16 * tile + 8 + 2 * t);
      const std::uint32_t rows[4] = {above.x, above.y, below.x, below.y};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        to[i] =
            __ldg(reinterpret_cast<const Columns*>(column + static_cast<std::size_t>(rows[i]) * group_.context_stride));
      }
    };
    const int part = warp / S::columns;
#pragma unroll
    for (int r = 0; r < ahead; ++r) load(part + r * S::parts, next[r]);
    const auto multiply = [&](int tile, const Columns(&x)[4]) {
      uint2 b[S::tiles];
      take_columns(x, power_of_two(max(s_.exponent[tile] - common, -126)), b);
#pragma unroll
      for (int u = 0; u < unit_tiles; ++u) {
        const uint4 a = fragments(s_.D)[(tile * unit_tiles + u) * 32 + lane];
#pragma unroll
        for (int q = 0; q < S::tiles; ++q) multiply_add_halves(sum[u][q], a, b[q]);
      }
    };
    int tile = part;
#pragma unroll 1
    for (; tile < (tiles - ahead) * S::parts; tile += ahead * S::parts) {
#pragma unroll
      for (int r = 0; r < ahead; ++r) {
        multiply(tile + r * S::parts, next[r]);
        load(tile + (r + ahead) * S::parts, next[r]);
      }
    }
#pragma unroll
    for (int r = 0; r < ahead; ++r) multiply(tile + r * S::parts, next[r]);
  }

  // What a sum of backward is multiplied by, besides the scale of its column.
  __device__ float sum_scale() const { return power_of_two(exponent_); }
  __device__ float4 column_scales(int column) const { return __ldg(reinterpret_cast<const float4*>(scales_ + column)); }
  // Before a sum that is 0.
  __device__ void start_sum() { exponent_ = -126; }

 private:
  __device__ static uint4* fragments(float4* memory) { return reinterpret_cast<uint4*>(memory); }

  __device__ float largest_of_block(float x) const {
    x = largest_of_lanes(x);
    if (threadIdx.x % 32 == 0) s_.largest[threadIdx.x / 32] = x;
    __syncthreads();
    for (int w = 0; w < S::warps; ++w) x = fmaxf(x, s_.largest[w]);
    return x;
  }

  // Takes the scale of W out of z, and sets the unit that is always 1.
  __device__ void restore(float (&z)[unit_tiles][own_tiles][4]) const {
    const int one = group_.network.layer[0].outputs - threadIdx.x % 32 / 4;
    const float always = group_.network.tanh ? 32.0F : 1.0F;  // so much that f of it is 1
#pragma unroll
    for (int m = 0; m < unit_tiles; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int n = 0; n < own_tiles; ++n)
          z[m][n][i] = 16 * m + 8 * (i / 2) == one ? always : weight_scale_ * z[m][n][i];
      }
    }
  }

  // The largest exponent of the fragments of D so far, which `sum` is brought to.
  __device__ int common_exponent(float (&sum)[unit_tiles][S::tiles][4]) {
    const int lane = threadIdx.x % 32;
    static_assert(S::chunk / 16 <= 32);
    const int of_chunk = __reduce_max_sync(0xFFFFFFFFU, lane < S::chunk / 16 ? s_.exponent[lane] : -126);
    if (of_chunk > exponent_) {
      const float factor = power_of_two(max(exponent_ - of_chunk, -126));
#pragma unroll
      for (int i = 0; i < unit_tiles * S::tiles * 4; ++i) sum[i / 4 / S::tiles][i / 4 % S::tiles][i % 4] *= factor;
      exponent_ = of_chunk;
    }
    return exponent_;
  }

  // Four observations of a lane, two to four columns each, become the right factors of as many tiles, times a power of
  // two.
  __device__ static void take_columns(const std::uint32_t (&x)[4], float factor, uint2 (&b)[2]) {
    const __half2 f = __float2half2_rn(factor);
    b[0] = {times(f, __byte_perm(x[0], x[1], 0x5410)), times(f, __byte_perm(x[2], x[3], 0x5410))};
    b[1] = {times(f, __byte_perm(x[0], x[1], 0x7632)), times(f, __byte_perm(x[2], x[3], 0x7632))};
  }
  __device__ static void take_columns(const uint2 (&x)[4], float factor, uint2 (&b)[4]) {
    uint2 two[2];
    take_columns({x[0].x, x[1].x, x[2].x, x[3].x}, factor, two);
    b[0] = two[0], b[1] = two[1];
    take_columns({x[0].y, x[1].y, x[2].y, x[3].y}, factor, two);
    b[2] = two[0], b[3] = two[1];
  }
  __device__ static std::uint32_t times(__half2 f, std::uint32_t x) {
    const __half2 product = __hmul2(f, *reinterpret_cast<const __half2*>(&x));
    return *reinterpret_cast<const std::uint32_t*>(&product);
  }

  const GroupView& group_;
  const Shared s_;
  const __half* contexts_;
  const float* scales_;
  float weight_scale_ = 1.0F;
  int exponent_ = -126;  // of `sum`
};

}  // namespace pits::cuda::narrow
