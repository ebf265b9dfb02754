// Forward to the played outputs and back to the gradient of the weights, in fragments of tensor cores. Included by
// score_narrow.cu alone.
#pragma once

#include "pits/cuda/narrow_block.cuh"

namespace pits::cuda::narrow {

// z(u, b) = Σ_c W(u,c) x(b,c) for the warp's observations, from `chunk` on; 16 columns at a time, whose summed index is
// renamed so that a lane's four columns are one load: product 0 sums over columns 4t and 4t+1, product 1 over 4t+2 and
// 4t+3.
template <bool Accurate>
__device__ void forward(const Group& group, const float* contexts, int columns, const Shared& s, int chunk,
                        float (&z)[unit_tiles][own_tiles][4]) {
  constexpr int ahead = 1;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int groups = columns / 16;
  const float4* x[own_tiles];
  float4 next[ahead][own_tiles];
#pragma unroll
  for (int n = 0; n < own_tiles; ++n) {
    const std::uint32_t row = s.round[chunk + (warp * own_tiles + n) * 8 + g];
    x[n] = reinterpret_cast<const float4*>(contexts + row * static_cast<std::uint32_t>(group.context_stride)) + t;
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      if (r < groups) next[r][n] = __ldg(x[n] + 4 * r);
    }
  }
  const float4* w = s.W + lane;
#pragma unroll 1
  for (int first = 0; first < groups; first += ahead) {
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      if (first + r >= groups) break;
      Operand<2, Accurate> b[own_tiles][2];
#pragma unroll
      for (int n = 0; n < own_tiles; ++n) {
        b[n][0].set(0, next[r][n].x);
        b[n][0].set(1, next[r][n].y);
        b[n][1].set(0, next[r][n].z);
        b[n][1].set(1, next[r][n].w);
        if (first + r + ahead < groups) next[r][n] = __ldg(x[n] + 4 * (first + r + ahead));
      }
#pragma unroll
      for (int m = 0; m < unit_tiles; ++m) {
        Operand<4, Accurate> a[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const float4 four = w[(k * unit_tiles + m) * 32];
          a[k].set_rounded(0, four.x);
          a[k].set_rounded(1, four.y);
          a[k].set_rounded(2, four.z);
          a[k].set_rounded(3, four.w);
        }
#pragma unroll
        for (int n = 0; n < own_tiles; ++n) multiply_add<Accurate>(z[m][n], a[0], b[n][0]);
#pragma unroll
        for (int n = 0; n < own_tiles; ++n) multiply_add<Accurate>(z[m][n], a[1], b[n][1]);
      }
      w += 2 * unit_tiles * 32;
    }
  }
}

// h = f(z) in place.
__device__ void activate(bool tanh, float (&z)[unit_tiles][own_tiles][4]) {
  const auto each = [&](const auto& f) {
#pragma unroll
    for (int m = 0; m < unit_tiles; ++m) {
#pragma unroll
      for (int n = 0; n < own_tiles; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) z[m][n][i] = f(z[m][n][i]);
      }
    }
  };
  if (tanh) {
    each([](float x) { return tanhf(x); });
  } else {
    each([](float x) { return fmaxf(x, 0.0F); });
  }
}

// The output of the played action and what flows back from it, for tile n of the warp: adds to the gradient of V, turns
// h into D = δ V(a,·) ⊙ f′ and stores it as fragments of the next product's left factor.
template <class S, bool Accurate>
__device__ void through_output(const Group& group, float scale, const Shared& s, int chunk, int n,
                               float (&h)[unit_tiles][own_tiles][4], float (&gradient)[unit_tiles][S::actions][4],
                               float (&noise)[S::actions]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int tile = warp * own_tiles + n;
  int action[2];
  float v[2][unit_tiles][2], m[2] = {0.0F, 0.0F}, delta[2], surprise[2];
#pragma unroll
  for (int c = 0; c < 2; ++c) {
    action[c] = s.action[chunk + 8 * tile + 2 * t + c];
    const float* row = s.V + max(action[c], 0) * output_stride + g;
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        v[c][u][r] = row[16 * u + 8 * r];
        m[c] = fmaf(h[u][n][2 * r + c], v[c][u][r], m[c]);
      }
    }
#pragma unroll
    for (int step = 4; step < 32; step *= 2) m[c] += __shfl_xor_sync(0xFFFFFFFFU, m[c], step);
    const float precision = s.precision[max(action[c], 0)], reward = s.reward[chunk + 8 * tile + 2 * t + c];
    delta[c] = action[c] < 0 ? 0.0F : output_delta(group, scale, precision, reward, m[c]);
    surprise[c] = action[c] < 0 ? 0.0F : scale * ((reward - m[c]) * (reward - m[c]) * precision - 1.0F);
  }
  Operand<4, Accurate> a[unit_tiles];
#pragma unroll
  for (int u = 0; u < unit_tiles; ++u) {
    a[u].set(0, h[u][n][0]);
    a[u].set(1, h[u][n][2]);
    a[u].set(2, h[u][n][1]);
    a[u].set(3, h[u][n][3]);
  }
#pragma unroll
  for (int q = 0; q < S::actions; ++q) {
    const bool mine[2] = {action[0] == 8 * q + g, action[1] == 8 * q + g};
    if (group.network.noise_parameters > 0) {
      noise[q] += (mine[0] ? surprise[0] : 0.0F) + (mine[1] ? surprise[1] : 0.0F);
    }
    Operand<2, Accurate> b;
    b.set(0, mine[0] ? delta[0] : 0.0F);
    b.set(1, mine[1] ? delta[1] : 0.0F);
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) multiply_add<Accurate>(gradient[u][q], a[u], b);
  }
  const auto store = [&](const auto& times_slope) {
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) {
      float d[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        d[i] = storable<Accurate>(times_slope(delta[i % 2] * v[i % 2][u][i / 2], h[u][n][i]));
      }
      s.D[(tile * unit_tiles + u) * 32 + lane] = {d[0], d[2], d[1], d[3]};
    }
  };
  if (group.network.tanh) {
    store([](float x, float value) { return x * (1.0F - value * value); });
  } else {
    store([](float x, float value) { return value > 0.0F ? x : 0.0F; });
  }
}

// Tiles floats that lie side by side, in one load.
template <int Tiles>
__device__ void load_columns(const float* from, float (&to)[Tiles]) {
  static_assert(Tiles == 2 || Tiles == 4);
  if constexpr (Tiles == 2) {
    const float2 two = __ldg(reinterpret_cast<const float2*>(from));
    to[0] = two.x, to[1] = two.y;
  } else {
    const float4 four = __ldg(reinterpret_cast<const float4*>(from));
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }
}

// sum(u, c) = Σ_b D(u,b) x(b,c) over the warp's share of the chunk; observations 2t and 2t+1 of a tile stand at t and
// t+4 of the summed index, and column n of tile q is column Tiles·n + q of the warp's, so that a lane's columns are one
// load. Columns beyond the context's are read and never stored: contexts end with `context_slack` zeros.
template <class S, bool Accurate>
__device__ void backward(const Group& group, const float* contexts, const Shared& s, int chunk,
                         float (&sum)[unit_tiles][S::tiles][4]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int first_column = warp % S::columns * S::tiles * 8;
  if (first_column >= group.context_stride) return;
  const float* column = contexts + first_column + S::tiles * g;
  float next[S::ahead][2][S::tiles];
  const auto load = [&](int tile, float(&to)[2][S::tiles]) {
    const uint2 rounds = *reinterpret_cast<const uint2*>(s.round + chunk + 8 * tile + 2 * t);
    load_columns<S::tiles>(column + rounds.x * static_cast<std::uint32_t>(group.context_stride), to[0]);
    load_columns<S::tiles>(column + rounds.y * static_cast<std::uint32_t>(group.context_stride), to[1]);
  };
  constexpr int tiles = S::chunk / 8 / S::parts;  // of this warp
  constexpr int ahead = S::ahead < tiles ? S::ahead : tiles;
  const int part = warp / S::columns;
#pragma unroll
  for (int r = 0; r < ahead; ++r) load(part + r * S::parts, next[r]);
#pragma unroll 1
  for (int first = 0; first < tiles; first += ahead) {
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      const int tile = part + (first + r) * S::parts;
      Operand<2, Accurate> b[S::tiles];
#pragma unroll
      for (int n = 0; n < S::tiles; ++n) {
        b[n].set(0, next[r][0][n]);
        b[n].set(1, next[r][1][n]);
      }
      if (first + r + ahead < tiles) load(tile + ahead * S::parts, next[r]);
#pragma unroll
      for (int u = 0; u < unit_tiles; ++u) {
        const float4 d = s.D[(tile * unit_tiles + u) * 32 + lane];
        Operand<4, Accurate> a;
        a.set_rounded(0, d.x);
        a.set_rounded(1, d.y);
        a.set_rounded(2, d.z);
        a.set_rounded(3, d.w);
#pragma unroll
        for (int n = 0; n < S::tiles; ++n) multiply_add<Accurate>(sum[u][n], a, b[n]);
      }
    }
  }
  static_assert(tiles % ahead == 0);
}

}  // namespace pits::cuda::narrow
