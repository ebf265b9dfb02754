// From the squared distances of a cloud of few particles, in the memory of a thread block, to its weights. Included by
// the two ways to the distances.
#pragma once

#include "pits/cuda/flow/flow_few.cuh"
#include "pits/cuda/flow/pair_weights.cuh"

namespace pits::cuda::few {

constexpr int threads = 256;
constexpr int warps = threads / 32;

// A power of two that holds n.
PITS_HOST_DEVICE constexpr int sorted_size(int n) {
  int size = 2;
  while (size < n) size *= 2;
  return size;
}

// As flow/kernel.cpp's median, by a bitonic sort in shared memory (`keys`); 0 of nothing.
__device__ inline double median(const float* d2, int M, Scale::Rule rule, float* keys, int size) {
  if (rule == Scale::Rule::fixed) return 0.0;
  const bool with_diagonal = rule == Scale::Rule::median;
  const int n = with_diagonal ? M * M : M * M - M;
  if (n == 0) return 0.0;
  for (int i = threadIdx.x; i < size; i += threads) {
    const bool counts = i < M * M && (with_diagonal || i % (M + 1) != 0);
    keys[i] = counts ? d2[i] : FLT_MAX;
  }
  for (int run = 2; run <= size; run *= 2) {
    for (int gap = run / 2; gap > 0; gap /= 2) {
      __syncthreads();
      for (int pair = threadIdx.x; pair < size / 2; pair += threads) {
        const int low = 2 * pair - (pair & (gap - 1)), high = low + gap;  // gap is a power of two
        const float a = keys[low], b = keys[high];
        if ((a > b) == ((low & run) == 0)) {
          keys[low] = b;
          keys[high] = a;
        }
      }
    }
  }
  __syncthreads();
  const double upper = keys[n / 2], lower = keys[n / 2 - (n % 2 == 0 ? 1 : 0)];
  __syncthreads();
  return 0.5 * (upper + lower);
}

// d2 and cost (M,M) in shared memory become the weights of realization g. d2 is overwritten by the kernel, cost by q.
__device__ inline void write_weights(const GroupView& group, const FlowState& state, int g, float* d2, float* cost,
                                     float* row_sum, float* keys) {
  const int M = group.particles, size = sorted_size(M * M);
  const FlowConfig& f = state.flow;
  const Bandwidth bandwidth = bandwidth_of(f.bandwidth, median(d2, M, f.bandwidth.rule, keys, size), M);
  const double cost_median = has_transport(f) ? median(cost, M, transport_rule(f), keys, size) : 0.0;
  for (int i = threadIdx.x; i < M * M; i += threads) d2[i] = kernel_at(bandwidth, d2[i]);
  __syncthreads();
  for (int i = threadIdx.x; i < M; i += threads) {
    float sum = 0.0F;
    for (int j = 0; j < M; ++j) sum += d2[i * M + j];
    row_sum[i] = sum;
  }
  __syncthreads();
  const int block = M * state.row;
  float* out = state.weights + static_cast<std::size_t>(g) * weight_floats(M, state.row);
  const float share = 1.0F / static_cast<float>(M);
  for (int index = threadIdx.x; index < M * M; index += threads) {
    const int i = index / M, j = index % M, at = j * state.row + i;
    const float k = d2[index];
    float a = i == j ? 1.0F : 0.0F;
    if (smooths_scores(f)) a = f.score_at == ScoreAt::neighbour ? share * k : i == j ? share * row_sum[i] : 0.0F;
    const float p = repulsion(f, bandwidth.slope, M, k, row_sum[i], row_sum[j]);
    const float q = has_transport(f) ? transport(f, cost[index], cost_median, M) : 0.0F;
    out[at] = a;
    out[block + at] = -p;
    out[2 * block + at] = -q;
    cost[index] = p + q;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < M; i += threads) {
    float sum = 0.0F;
    for (int j = 0; j < M; ++j) sum += cost[i * M + j];
    out[3 * block + i] = sum;
  }
}

// Of floats, for the distances and what becomes of them.
PITS_HOST_DEVICE constexpr int pair_floats(int particles) {
  return 2 * particles * particles + particles + sorted_size(particles * particles);
}

// Whether this is the last block of realization g to have written its slice.
__device__ inline bool last_to_arrive(const FlowState& state, int g) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(state.arrived + g, 1U) + 1 == static_cast<unsigned>(state.slices);
  __syncthreads();
  if (!last) return false;
  __threadfence();
  if (threadIdx.x == 0) state.arrived[g] = 0;
  return true;
}

// Adds the slices up in order and writes the weights; pairs (i,j) whose i/tile is above j/tile are mirror images.
__device__ inline void finish(const GroupView& group, const FlowState& state, int g, int tile, float* shared) {
  const int M = group.particles;
  const bool transports = has_transport(state.flow);
  const float* partial = state.partial + static_cast<std::size_t>(g) * state.slices * 2 * M * M;
  float *d2 = shared, *cost = shared + M * M, *row_sum = cost + M * M, *keys = row_sum + M;
  for (int index = threadIdx.x; index < M * M; index += threads) {
    const int i = index / M, j = index % M;
    const int at = i / tile <= j / tile ? index : j * M + i;
    float a = 0.0F, b = 0.0F;
#pragma unroll 4
    for (int s = 0; s < state.slices; ++s) {
      a += __ldcg(partial + s * 2 * M * M + at);
      if (transports) b += __ldcg(partial + (s * 2 + 1) * M * M + index);
    }
    d2[index] = fmaxf(a, 0.0F);
    cost[index] = fmaxf(b, 0.0F);
  }
  __syncthreads();
  write_weights(group, state, g, d2, cost, row_sum, keys);
}

}  // namespace pits::cuda::few
