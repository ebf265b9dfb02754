#include <algorithm>

#include "pits/cuda/device_array.cuh"
#include "pits/cuda/flow_few.cuh"
#include "pits/cuda/rule.cuh"

namespace pits::cuda {
namespace {

constexpr int side = 4;           // particles of a thread
constexpr int step_columns = 64;  // of a block; a thread takes two

// v_i = Σ_j a_ij G_j + r_i y_i − Σ_j p_ij y_j − Σ_j q_ij y′_j with r_i = Σ_j p_ij + q_ij, for `side` particles of two
// columns; y is θ and y′ is θ′, both less particle 0 of θ, so that nothing is lost far from the origin.
template <bool Repels, bool Transports>
__device__ void velocities(const float2* g, const float2* y, const float2* before, const float* weights, int M, int row,
                           int i, float2 (&v)[side]) {
  constexpr int width = step_columns / 2;
  const int lane = threadIdx.x, block = M * row;
  const float4 r4 = *reinterpret_cast<const float4*>(weights + 3 * block + i);
  const float r[side] = {r4.x, r4.y, r4.z, r4.w};
#pragma unroll
  for (int s = 0; s < side; ++s) {
    const float2 own = y[min(i + s, M - 1) * width + lane];
    v[s] = {r[s] * own.x, r[s] * own.y};
  }
  const auto add = [&](const float* at, float sign, const float2& x) {
    const float4 w4 = *reinterpret_cast<const float4*>(at);
    const float w[side] = {w4.x, w4.y, w4.z, w4.w};
    const float2 signed_x = {sign * x.x, sign * x.y};
#pragma unroll
    for (int s = 0; s < side; ++s) v[s] = {fmaf(w[s], signed_x.x, v[s].x), fmaf(w[s], signed_x.y, v[s].y)};
  };
#pragma unroll 4
  for (int j = 0; j < M; ++j) {
    const float* at = weights + j * row + i;
    add(at, 1.0F, g[j * width + lane]);
    if constexpr (Repels) add(at + block, -1.0F, y[j * width + lane]);
    if constexpr (Transports) add(at + 2 * block, -1.0F, before[j * width + lane]);
  }
}

// Blocks (64 columns, realization): the columns of all particles in shared memory, so that they can move in place.
template <bool Pairs, bool Repels, bool Transports>
__global__ void step_kernel(const Group group, const FlowState state, int step) {
  extern __shared__ float4 memory[];
  constexpr int width = step_columns / 2;
  const int M = group.particles, g = blockIdx.y, lane = threadIdx.x;
  const std::int64_t stride = group.network.stride,
                     column = blockIdx.x * static_cast<std::int64_t>(step_columns) + 2 * lane;
  const std::int64_t base = g * M * stride + column;
  float2 *scores = reinterpret_cast<float2*>(memory), *y = scores + M * width, *before = y + M * width;
  float* weights = reinterpret_cast<float*>(before + (Transports ? M * width : 0));
  const bool inside = column < stride;
  const auto load = [&](const float* from, int i) {
    return inside ? *reinterpret_cast<const float2*>(from + base + i * stride) : float2{};
  };
  const float2 origin = Pairs ? load(group.theta, 0) : float2{};
  const auto less_origin = [&](const float2& x) { return float2{x.x - origin.x, x.y - origin.y}; };
  for (int i = threadIdx.y; i < M; i += blockDim.y) {
    scores[i * width + lane] = load(group.score, i);
    if constexpr (Pairs) y[i * width + lane] = less_origin(load(group.theta, i));
    if constexpr (Transports) before[i * width + lane] = less_origin(load(state.previous, i));
  }
  if constexpr (Pairs) {
    const int count = weight_floats(M, state.row) / 4;
    const float4* from = reinterpret_cast<const float4*>(state.weights) + static_cast<std::size_t>(g) * count;
    for (int i = threadIdx.y * 32 + lane; i < count; i += 32 * blockDim.y) {
      reinterpret_cast<float4*>(weights)[i] = from[i];
    }
  }
  __syncthreads();
  if (!inside) return;
  const std::uint32_t k = group.training->first_step + step;
  const StepSize size = state.step_size[k];
  const bool renew = (k + 1) % state.flow.inner_steps == 0;
  for (int i = threadIdx.y * side; i < M; i += side * blockDim.y) {
    float2 v[side] = {};
    if constexpr (Pairs) velocities<Repels, Transports>(scores, y, before, weights, M, state.row, i, v);
#pragma unroll
    for (int s = 0; s < side; ++s) {
      if (i + s >= M) break;
      if constexpr (!Pairs) v[s] = scores[(i + s) * width + lane];
      const std::int64_t at = base + (i + s) * stride;
      const float2 old = *reinterpret_cast<const float2*>(group.theta + at);
      const float2 now = {moved(state.rule, size, old.x, v[s].x, state.first + at, state.second + at),
                          moved(state.rule, size, old.y, v[s].y, state.first + at + 1, state.second + at + 1)};
      const bool safe = fabsf(now.x) <= largest_parameter && fabsf(now.y) <= largest_parameter;
      if (!safe && state.diverged[g] == 0) state.diverged[g] = static_cast<int>(k + 1);
      *reinterpret_cast<float2*>(group.theta + at) = now;
      // Eq. 6 looks back one step; the JKO scheme holds the cloud that its outer step started from.
      if (Transports && renew) *reinterpret_cast<float2*>(state.previous + at) = state.flow.inner_steps > 1 ? now : old;
    }
  }
}

template <bool Pairs, bool Repels, bool Transports>
void launch_step(const Group& group, const FlowState& state, int step, cudaStream_t stream) {
  const auto kernel = step_kernel<Pairs, Repels, Transports>;
  const int M = group.particles, tiles = Transports ? 3 : Pairs ? 2 : 1;
  const int floats = M * step_columns * tiles + (Pairs ? weight_floats(M, state.row) : 0);
  const auto bytes = static_cast<std::size_t>(floats) * sizeof(float);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "step: shared memory");
  const dim3 block(32, static_cast<unsigned>(std::clamp((M + side - 1) / side, 1, 8)));
  const dim3 grid(blocks_for(static_cast<std::size_t>(group.network.stride), step_columns),
                  static_cast<unsigned>(group.realizations));
  kernel<<<grid, block, bytes, stream>>>(group, state, step);
  check(cudaGetLastError(), "step");
}

}  // namespace

void few_step(const Group& group, const FlowState& state, int step, cudaStream_t stream) {
  if (!state.flow.pairs()) return launch_step<false, false, false>(group, state, step, stream);
  const bool repels = state.flow.kind != CardFlow::dgf_released;
  if (!state.flow.transports()) return launch_step<true, true, false>(group, state, step, stream);
  if (repels) return launch_step<true, true, true>(group, state, step, stream);
  launch_step<true, false, true>(group, state, step, stream);
}

}  // namespace pits::cuda
