#include "pits/cuda/flow_few.cuh"

#include <algorithm>

#include "pits/cuda/device_array.cuh"
#include "pits/cuda/pair_weights.cuh"
#include "pits/cuda/rule.cuh"

namespace pits::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int side = 4;  // a lane carries side × side pairs of particles at once

// Lane l sums columns l, l+32, ... of a slice for the pairs (i+0..3, j+0..3); then the lanes are added up in the order of
// a butterfly.
__device__ void sum_tile(const float* a, const float* b, std::int64_t stride, int M, int i, int j, std::int64_t from,
                         std::int64_t to, float* out) {
  const int lane = threadIdx.x % 32;
  const float *row_a[side], *row_b[side];
#pragma unroll
  for (int r = 0; r < side; ++r) {
    row_a[r] = a + min(i + r, M - 1) * stride;
    row_b[r] = b + min(j + r, M - 1) * stride;
  }
  float sum[side][side] = {};
  for (std::int64_t l = from + lane; l < to; l += 32) {
    float x[side], y[side];
#pragma unroll
    for (int r = 0; r < side; ++r) {
      x[r] = row_a[r][l];
      y[r] = row_b[r][l];
    }
#pragma unroll
    for (int r = 0; r < side; ++r) {
#pragma unroll
      for (int c = 0; c < side; ++c) sum[r][c] = fmaf(x[r] - y[c], x[r] - y[c], sum[r][c]);
    }
  }
#pragma unroll
  for (int r = 0; r < side; ++r) {
#pragma unroll
    for (int c = 0; c < side; ++c) {
      float s = sum[r][c];
#pragma unroll
      for (int step = 16; step > 0; step /= 2) s += __shfl_xor_sync(0xFFFFFFFFU, s, step);
      if (lane == r * side + c && i + r < M && j + c < M) out[(i + r) * M + j + c] = s;
    }
  }
}

// The value of rank k among n non-negative floats, whose order is that of their bits.
__device__ float of_rank(const float* values, int n, int k, bool with_diagonal, int M) {
  std::uint32_t found = 0;
  for (int bit = 30; bit >= 0; --bit) {
    const std::uint32_t candidate = found | 1U << bit;
    int below = 0;
    for (int first = 0; first < n; first += threads) {
      const int i = first + static_cast<int>(threadIdx.x);
      const bool counts = i < n && (with_diagonal || i % (M + 1) != 0);
      below += __syncthreads_count(counts && __float_as_uint(values[counts ? i : 0]) < candidate);
    }
    if (below <= k) found = candidate;
  }
  return __uint_as_float(found);
}

// As flow/kernel.cpp's median; 0 of nothing.
__device__ double median(const float* d2, int M, CardScaleRule rule) {
  if (rule == CardScaleRule::fixed) return 0.0;
  const bool with_diagonal = rule == CardScaleRule::median;
  const int n = with_diagonal ? M * M : M * M - M;
  if (n == 0) return 0.0;
  const double upper = of_rank(d2, M * M, n / 2, with_diagonal, M);
  if (n % 2 == 1) return upper;
  return 0.5 * (upper + static_cast<double>(of_rank(d2, M * M, n / 2 - 1, with_diagonal, M)));
}

// d2 and cost (M,M) in shared memory become the weights of realization g. d2 is overwritten by the kernel.
__device__ void write_weights(const Group& group, const FlowState& state, int g, float* d2, const float* cost,
                              float* row_sum) {
  const int M = group.particles;
  const FlowSettings& f = state.flow;
  const Bandwidth bandwidth = bandwidth_of(f.bandwidth, median(d2, M, f.bandwidth.rule), M);
  const double cost_median = f.transports() ? median(cost, M, transport_rule(f)) : 0.0;
  for (int i = threadIdx.x; i < M * M; i += threads) d2[i] = kernel_at(bandwidth, d2[i]);
  __syncthreads();
  for (int i = threadIdx.x; i < M; i += threads) {
    float sum = 0.0F;
    for (int j = 0; j < M; ++j) sum += d2[i * M + j];
    row_sum[i] = sum;
  }
  __syncthreads();
  const std::size_t block = static_cast<std::size_t>(M) * state.row;
  float* out = state.weights + 3 * block * g;
  const float share = 1.0F / static_cast<float>(M);
  for (int index = threadIdx.x; index < M * M; index += threads) {
    const int i = index / M, j = index % M, at = j * state.row + i;
    const float k = d2[index];
    float a = i == j ? 1.0F : 0.0F;
    if (smooths_scores(f)) a = !f.own_score ? share * k : i == j ? share * row_sum[i] : 0.0F;
    out[at] = a;
    out[block + at] = repulsion(f, bandwidth.slope, M, k, row_sum[i], row_sum[j]);
    out[2 * block + at] = f.transports() ? transport(f, cost[index], cost_median, M) : 0.0F;
  }
}

// Blocks (slice, realization). The last block of a realization to arrive adds the slices up in order.
__global__ void __launch_bounds__(threads) weights_kernel(const Group group, const FlowState state) {
  extern __shared__ float shared[];
  __shared__ bool last;
  const int M = group.particles, slice = blockIdx.x, g = blockIdx.y, warp = threadIdx.x / 32;
  const std::int64_t stride = group.network.stride;
  const std::int64_t width = round_up(static_cast<int>((stride + state.slices - 1) / state.slices), 32);
  const std::int64_t from = min(slice * width, stride), to = min(from + width, stride);
  const float* theta = group.theta + g * M * stride;
  const float* previous = state.flow.transports() ? state.previous + g * M * stride : nullptr;
  float* partial = state.partial + static_cast<std::size_t>(g) * state.slices * 2 * M * M;
  float* mine = partial + static_cast<std::size_t>(slice) * 2 * M * M;
  const int tiles = (M + side - 1) / side;
  for (int tile = warp; tile < tiles * tiles; tile += warps) {
    const int i = tile / tiles * side, j = tile % tiles * side;
    if (i <= j) sum_tile(theta, theta, stride, M, i, j, from, to, mine);
    if (previous != nullptr) sum_tile(theta, previous, stride, M, i, j, from, to, mine + M * M);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(state.arrived + g, 1U) + 1 == static_cast<unsigned>(state.slices);
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x == 0) state.arrived[g] = 0;
  float *d2 = shared, *cost = shared + M * M, *row_sum = cost + M * M;
  for (int index = threadIdx.x; index < M * M; index += threads) {
    const int i = index / M, j = index % M;
    const int at = i / side <= j / side ? index : j * M + i;  // the other half is the mirror image
    float a = 0.0F, b = 0.0F;
    for (int s = 0; s < state.slices; ++s) {
      a += __ldcg(partial + s * 2 * M * M + at);
      if (previous != nullptr) b += __ldcg(partial + (s * 2 + 1) * M * M + index);
    }
    d2[index] = a;
    cost[index] = b;
  }
  __syncthreads();
  write_weights(group, state, g, d2, cost, row_sum);
}

// Rows of G, θ and θ′ of 32 columns in shared memory; a thread takes `side` particles of one column.
template <bool Repels, bool Transports>
__device__ void velocities(const float* g, const float* theta, const float* previous, const float* weights, int M,
                           int row, int i, float (&v)[side]) {
  const int lane = threadIdx.x;
  const std::size_t block = static_cast<std::size_t>(M) * row;
  float own[side];
#pragma unroll
  for (int r = 0; r < side; ++r) own[r] = theta[min(i + r, M - 1) * 32 + lane];
  for (int j = 0; j < M; ++j) {
    const float score = g[j * 32 + lane], other = theta[j * 32 + lane];
    const float before = Transports ? previous[j * 32 + lane] : 0.0F;
    const float* at = weights + j * row + i;
    const float4 a4 = *reinterpret_cast<const float4*>(at);
    const float a[side] = {a4.x, a4.y, a4.z, a4.w};
#pragma unroll
    for (int r = 0; r < side; ++r) v[r] = fmaf(a[r], score, v[r]);
    if constexpr (Repels) {
      const float4 p4 = *reinterpret_cast<const float4*>(at + block);
      const float p[side] = {p4.x, p4.y, p4.z, p4.w};
#pragma unroll
      for (int r = 0; r < side; ++r) v[r] = fmaf(p[r], own[r] - other, v[r]);
    }
    if constexpr (Transports) {
      const float4 q4 = *reinterpret_cast<const float4*>(at + 2 * block);
      const float q[side] = {q4.x, q4.y, q4.z, q4.w};
#pragma unroll
      for (int r = 0; r < side; ++r) v[r] = fmaf(q[r], own[r] - before, v[r]);
    }
  }
}

template <bool Pairs, bool Repels, bool Transports>
__global__ void step_kernel(const Group group, const FlowState state, int step) {
  extern __shared__ float shared[];
  const int M = group.particles, g = blockIdx.y, lane = threadIdx.x;
  const std::int64_t stride = group.network.stride, column = blockIdx.x * 32LL + lane;
  const std::int64_t base = g * M * stride + column;
  float *scores = shared, *theta = shared + M * 32, *previous = theta + M * 32;
  float* weights = previous + (Transports ? M * 32 : 0);
  const bool inside = column < stride;
  for (int i = threadIdx.y; i < M; i += blockDim.y) {
    const std::int64_t at = base + i * stride;
    scores[i * 32 + lane] = inside ? group.score[at] : 0.0F;
    theta[i * 32 + lane] = inside ? group.theta[at] : 0.0F;
    if constexpr (Transports) previous[i * 32 + lane] = inside ? state.previous[at] : 0.0F;
  }
  if constexpr (Pairs) {
    const int count = 3 * M * state.row / 4;
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
    float v[side] = {};
    if constexpr (Pairs) velocities<Repels, Transports>(scores, theta, previous, weights, M, state.row, i, v);
#pragma unroll
    for (int r = 0; r < side; ++r) {
      if (i + r >= M) break;
      if constexpr (!Pairs) v[r] = scores[(i + r) * 32 + lane];
      const std::int64_t at = base + (i + r) * stride;
      const float before = theta[(i + r) * 32 + lane];
      const float now = moved(state.rule, size, before, v[r], state.first + at, state.second + at);
      if (!(fabsf(now) <= largest_parameter) && state.diverged[g] == 0) state.diverged[g] = static_cast<int>(k + 1);
      group.theta[at] = now;
      // Eq. 6 looks back one step; the JKO scheme holds the cloud that its outer step started from.
      if (Transports && renew) state.previous[at] = state.flow.inner_steps > 1 ? now : before;
    }
  }
}

template <bool Pairs, bool Repels, bool Transports>
void launch_step(const Group& group, const FlowState& state, int step, cudaStream_t stream) {
  const auto kernel = step_kernel<Pairs, Repels, Transports>;
  const int M = group.particles;
  const std::size_t floats =
      static_cast<std::size_t>(M) * 32 * (Transports ? 3 : 2) + (Pairs ? 3 * static_cast<std::size_t>(M) * state.row : 0);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(floats * sizeof(float))),
        "step: shared memory");
  const dim3 block(32, static_cast<unsigned>(std::clamp((M + side - 1) / side, 1, 8)));
  const dim3 grid(blocks_for(static_cast<std::size_t>(group.network.stride), 32),
                  static_cast<unsigned>(group.realizations));
  kernel<<<grid, block, floats * sizeof(float), stream>>>(group, state, step);
  check(cudaGetLastError(), "step");
}

}  // namespace

// By the shape alone, so that sums run in the same order in groups of any size.
int few_slices(std::int64_t stride) { return static_cast<int>(std::clamp<std::int64_t>(stride / 256, 1, 16)); }

void few_weights(const Group& group, const FlowState& state, cudaStream_t stream) {
  if (!state.flow.pairs()) return;
  const auto M = static_cast<std::size_t>(group.particles);
  const std::size_t bytes = (2 * M * M + M) * sizeof(float);
  const dim3 grid(static_cast<unsigned>(state.slices), static_cast<unsigned>(group.realizations));
  weights_kernel<<<grid, threads, bytes, stream>>>(group, state);
  check(cudaGetLastError(), "weights");
}

void few_step(const Group& group, const FlowState& state, int step, cudaStream_t stream) {
  if (!state.flow.pairs()) return launch_step<false, false, false>(group, state, step, stream);
  const bool repels = state.flow.kind != CardFlow::dgf_released;
  if (!state.flow.transports()) return launch_step<true, true, false>(group, state, step, stream);
  if (repels) return launch_step<true, true, true>(group, state, step, stream);
  launch_step<true, false, true>(group, state, step, stream);
}

}  // namespace pits::cuda
