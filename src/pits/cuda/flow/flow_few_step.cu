#include <cuda_pipeline.h>

#include <algorithm>

#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/flow/flow_few.cuh"
#include "pits/cuda/flow/rule.cuh"

namespace pits::cuda {
namespace {

constexpr int side = 4;            // particles of a thread
constexpr int step_columns = 128;  // of a block; a thread takes four

__device__ float4 operator-(const float4& a, const float4& b) { return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }
__device__ float4 operator*(float f, const float4& a) { return {f * a.x, f * a.y, f * a.z, f * a.w}; }
__device__ void add_times(float f, const float4& a, float4& sum) {
  sum = {fmaf(f, a.x, sum.x), fmaf(f, a.y, sum.y), fmaf(f, a.z, sum.z), fmaf(f, a.w, sum.w)};
}

// v_i = Σ_j a_ij G_j + r_i y_i − Σ_j p_ij y_j − Σ_j q_ij y′_j with r_i = Σ_j p_ij + q_ij, for `side` particles of four
// columns; y and y′ (`before`) are θ and θ′ less particle 0 of θ, so that nothing is lost far from the origin.
template <bool Repels, bool Transports>
__device__ void velocities(const float4* g, const float4* theta, const float4* before, const float* weights, int M,
                           int row, int i, float4 (&v)[side]) {
  constexpr int width = step_columns / 4;
  const int lane = threadIdx.x, block = M * row;
  const float4 origin = theta[lane], r4 = *reinterpret_cast<const float4*>(weights + 3 * block + i);
  const float r[side] = {r4.x, r4.y, r4.z, r4.w};
#pragma unroll
  for (int s = 0; s < side; ++s) v[s] = r[s] * (theta[min(i + s, M - 1) * width + lane] - origin);
  const auto add = [&](const float* at, const float4& x) {
    const float4 w = *reinterpret_cast<const float4*>(at);
    add_times(w.x, x, v[0]);
    add_times(w.y, x, v[1]);
    add_times(w.z, x, v[2]);
    add_times(w.w, x, v[3]);
  };
#pragma unroll 4
  for (int j = 0; j < M; ++j) {
    const float* at = weights + j * row + i;
    add(at, g[j * width + lane]);
    if constexpr (Repels) add(at + block, theta[j * width + lane] - origin);
    if constexpr (Transports) add(at + 2 * block, before[j * width + lane]);
  }
}

// A block's columns of all particles in shared memory; `before` only with a transport, `weights` only with pairs.
struct StepTile {
  float4 *scores, *theta, *before;  // (M,step_columns)
  float* weights;

  __device__ StepTile(float4* memory, int M, bool transports)
      : scores(memory),
        theta(scores + M * (step_columns / 4)),
        before(theta + M * (step_columns / 4)),
        weights(reinterpret_cast<float*>(before + (transports ? M * (step_columns / 4) : 0))) {}
};

// Loads the tile. `base` is where this thread's four columns of particle 0 lie; `inside` says whether there are any.
template <bool Pairs, bool Transports>
__device__ __forceinline__ void load_tile(const GroupView& group, const FlowState& state, std::int64_t base,
                                          bool inside, const StepTile& tile) {
  constexpr int width = step_columns / 4;
  const int M = group.particles, lane = threadIdx.x;
  const std::int64_t stride = group.network.stride;
  const auto load = [&](const float* from, int i, float4* to) {
    if (inside) __pipeline_memcpy_async(to + i * width + lane, from + base + i * stride, sizeof(float4));
  };
  for (int i = threadIdx.y; i < M; i += blockDim.y) {
    load(group.score, i, tile.scores);
    load(group.theta, i, tile.theta);
    if constexpr (Transports) load(state.previous, i, tile.before);
  }
  if constexpr (Pairs) {
    const int count = weight_floats(M, state.row) / 4;
    const float4* from = reinterpret_cast<const float4*>(state.weights) + static_cast<std::size_t>(blockIdx.y) * count;
    for (int i = threadIdx.y * 32 + lane; i < count; i += 32 * blockDim.y) {
      __pipeline_memcpy_async(reinterpret_cast<float4*>(tile.weights) + i, from + i, sizeof(float4));
    }
  }
  float4 origin{};
  if (Transports && inside) origin = *reinterpret_cast<const float4*>(group.theta + base);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int i = threadIdx.y; Transports && i < M; i += blockDim.y) {  // what this thread has loaded
    tile.before[i * width + lane] = tile.before[i * width + lane] - origin;
  }
  __syncthreads();
}

// Blocks (128 columns, realization): the columns of all particles in shared memory, so that they can move in place.
template <bool Pairs, bool Repels, bool Transports>
__global__ void step_kernel(const GroupView group, const FlowState state, int step) {
  extern __shared__ float4 memory[];
  constexpr int width = step_columns / 4;
  const int M = group.particles, g = blockIdx.y, lane = threadIdx.x;
  const std::int64_t stride = group.network.stride,
                     column = blockIdx.x * static_cast<std::int64_t>(step_columns) + 4 * lane;
  const std::int64_t base = g * M * stride + column;
  const TrainingState& training = group.training[g];
  if (training.trains == 0) return;
  const StepTile tile(memory, M, Transports);
  load_tile<Pairs, Transports>(group, state, base, column < stride, tile);
  if (column >= stride) return;
  const std::uint32_t k = training.first_step + step;
  const StepFactors<float> factors = state.steps[k];
  const bool renew = (k + 1) % state.flow.inner_steps == 0;
  for (int i = threadIdx.y * side; i < M; i += side * blockDim.y) {
    float4 v[side] = {};
    if constexpr (Pairs) {
      velocities<Repels, Transports>(tile.scores, tile.theta, tile.before, tile.weights, M, state.row, i, v);
    }
#pragma unroll
    for (int s = 0; s < side; ++s) {
      if (i + s >= M) break;
      if constexpr (!Pairs) v[s] = tile.scores[(i + s) * width + lane];
      const std::int64_t at = base + (i + s) * stride;
      const float4 old = tile.theta[(i + s) * width + lane], now = moved_four(state, factors, old, v[s], at);
      if (!safe(now) && state.diverged[g] == 0) state.diverged[g] = static_cast<int>(k + 1);
      *reinterpret_cast<float4*>(group.theta + at) = now;
      // Eq. 6 looks back one step; the JKO scheme holds the cloud that its outer step started from.
      if (Transports && renew) *reinterpret_cast<float4*>(state.previous + at) = state.flow.inner_steps > 1 ? now : old;
    }
  }
}

template <bool Pairs, bool Repels, bool Transports>
void launch_step(const GroupView& group, const FlowState& state, int step, cudaStream_t stream) {
  const auto kernel = step_kernel<Pairs, Repels, Transports>;
  const int M = group.particles, tiles = Transports ? 3 : 2;
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

void few_step(const GroupView& group, const FlowState& state, int step, cudaStream_t stream) {
  if (!has_pairs(state.flow)) return launch_step<false, false, false>(group, state, step, stream);
  const bool repels = state.flow.kind != FlowKind::dgf_released;
  if (!has_transport(state.flow)) return launch_step<true, true, false>(group, state, step, stream);
  if (repels) return launch_step<true, true, true>(group, state, step, stream);
  launch_step<true, false, true>(group, state, step, stream);
}

}  // namespace pits::cuda
