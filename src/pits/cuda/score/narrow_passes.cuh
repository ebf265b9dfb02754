// From the hidden layer's values to the played outputs and back to D. Included by score_narrow.cu alone.
#pragma once

#include "pits/cuda/score/narrow_block.cuh"

namespace pits::cuda::narrow {

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

// The output of the played action and what flows back from it, for tile n of the sixteen observations from `first` on:
// adds to the gradient of V and turns h into D = δ V(a,·) ⊙ f′.
template <class S, bool Accurate>
__device__ void through_output(const GroupView& group, float scale, const Shared& s, int first, int n,
                               float (&h)[unit_tiles][own_tiles][4], float (&gradient)[unit_tiles][S::actions][4],
                               float (&noise)[S::actions]) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, at = first + 8 * n + 2 * t;
  int action[2];
  float v[2][unit_tiles][2], m[2] = {0.0F, 0.0F}, delta[2], surprise[2];
#pragma unroll
  for (int c = 0; c < 2; ++c) {
    action[c] = s.action[at + c];
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
    const float precision = s.precision[max(action[c], 0)], reward = s.reward[at + c];
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
  const auto flow_back = [&](const auto& times_slope) {
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) {
#pragma unroll
      for (int i = 0; i < 4; ++i) h[u][n][i] = times_slope(delta[i % 2] * v[i % 2][u][i / 2], h[u][n][i]);
    }
  };
  if (group.network.tanh) {
    flow_back([](float x, float value) { return x * (1.0F - value * value); });
  } else {
    flow_back([](float x, float value) { return value > 0.0F ? x : 0.0F; });
  }
}

}  // namespace pits::cuda::narrow
