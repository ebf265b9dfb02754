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
constexpr unsigned all_lanes = 0xFFFFFFFFU;

// Columns of a slice, whose θ and θ′ lie in shared memory.
PITS_CARD_CALL constexpr int slice_width(int particles) { return particles <= 32 ? 512 : 256; }

// Gives one half of the sums to the lane `2 · Half` away and keeps the other.
template <int Half>
__device__ void exchange(float (&x)[side * side]) {
  const bool upper = (threadIdx.x & 2 * Half) != 0;
#pragma unroll
  for (int i = 0; i < Half; ++i) {
    const float given = upper ? x[i] : x[i + Half], kept = upper ? x[i + Half] : x[i];
    x[i] = kept + __shfl_xor_sync(all_lanes, given, 2 * Half);
  }
}

// Sixteen sums over the lanes at once. Lane l ends with the sum number l/2.
__device__ float sum_of_lanes(float (&x)[side * side]) {
  exchange<8>(x);
  exchange<4>(x);
  exchange<2>(x);
  exchange<1>(x);
  return x[0] + __shfl_xor_sync(all_lanes, x[0], 1);
}

// ‖a_i − b_j‖² over a slice of columns for the pairs (i+0..3, j+0..3): a lane sums every 32nd column.
template <int Width>
__device__ void sum_tile(const float* a, const float* b, int M, int i, int j, int columns, float* out) {
  const int lane = threadIdx.x % 32;
  const float *row_a[side], *row_b[side];
#pragma unroll
  for (int r = 0; r < side; ++r) {
    row_a[r] = a + min(i + r, M - 1) * Width;
    row_b[r] = b + min(j + r, M - 1) * Width;
  }
  float sum[side * side] = {};
#pragma unroll 2
  for (int l = lane; l < columns; l += 32) {
    float x[side], y[side];
#pragma unroll
    for (int r = 0; r < side; ++r) {
      x[r] = row_a[r][l];
      y[r] = row_b[r][l];
    }
#pragma unroll
    for (int r = 0; r < side; ++r) {
#pragma unroll
      for (int c = 0; c < side; ++c) {
        const float difference = x[r] - y[c];
        sum[r * side + c] = fmaf(difference, difference, sum[r * side + c]);
      }
    }
  }
  const float total = sum_of_lanes(sum);
  const int r = i + lane / 2 / side, c = j + lane / 2 % side;
  if (lane % 2 == 0 && r < M && c < M) out[r * M + c] = total;
}

// Rows of a slice into shared memory, 16 bytes at a time; zeros up to a multiple of 32 columns.
template <int Width>
__device__ void load_slice(const float* rows, std::int64_t stride, int M, int columns, float* out) {
  constexpr int fours = Width / 4;
  for (int i = threadIdx.x; i < M * fours; i += threads) {
    const int row = i / fours, column = i % fours * 4;
    float4 x{};
    if (column < columns) x = *reinterpret_cast<const float4*>(rows + row * stride + column);
    *reinterpret_cast<float4*>(out + row * Width + column) = x;
  }
}

// A power of two that holds n.
PITS_CARD_CALL constexpr int sorted_size(int n) {
  int size = 2;
  while (size < n) size *= 2;
  return size;
}

// As flow/kernel.cpp's median, by a bitonic sort in shared memory (`keys`); 0 of nothing.
__device__ double median(const float* d2, int M, CardScaleRule rule, float* keys, int size) {
  if (rule == CardScaleRule::fixed) return 0.0;
  const bool with_diagonal = rule == CardScaleRule::median;
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
        const int low = 2 * pair - pair % gap, high = low + gap;  // gap is a power of two
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
__device__ void write_weights(const Group& group, const FlowState& state, int g, float* d2, float* cost, float* row_sum,
                              float* keys) {
  const int M = group.particles, size = sorted_size(M * M);
  const FlowSettings& f = state.flow;
  const Bandwidth bandwidth = bandwidth_of(f.bandwidth, median(d2, M, f.bandwidth.rule, keys, size), M);
  const double cost_median = f.transports() ? median(cost, M, transport_rule(f), keys, size) : 0.0;
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
    if (smooths_scores(f)) a = !f.own_score ? share * k : i == j ? share * row_sum[i] : 0.0F;
    const float p = repulsion(f, bandwidth.slope, M, k, row_sum[i], row_sum[j]);
    const float q = f.transports() ? transport(f, cost[index], cost_median, M) : 0.0F;
    out[at] = a;
    out[block + at] = p;
    out[2 * block + at] = q;
    cost[index] = p + q;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < M; i += threads) {
    float sum = 0.0F;
    for (int j = 0; j < M; ++j) sum += cost[i * M + j];
    out[3 * block + i] = sum;
  }
}

// Blocks (slice, realization). The last block of a realization to arrive adds the slices up in order.
template <int Width>
__global__ void __launch_bounds__(threads) weights_kernel(const Group group, const FlowState state) {
  extern __shared__ float4 memory[];
  __shared__ bool last;
  float* shared = reinterpret_cast<float*>(memory);
  const int M = group.particles, slice = blockIdx.x, g = blockIdx.y, warp = threadIdx.x / 32;
  const std::int64_t stride = group.network.stride, from = static_cast<std::int64_t>(slice) * Width;
  const int columns = static_cast<int>(min(static_cast<std::int64_t>(Width), stride - from));
  const bool transports = state.flow.transports();
  float *theta = shared, *previous = shared + M * Width;
  load_slice<Width>(group.theta + g * M * stride + from, stride, M, columns, theta);
  if (transports) load_slice<Width>(state.previous + g * M * stride + from, stride, M, columns, previous);
  __syncthreads();
  float* partial = state.partial + static_cast<std::size_t>(g) * state.slices * 2 * M * M;
  float* mine = partial + static_cast<std::size_t>(slice) * 2 * M * M;
  const int tiles = (M + side - 1) / side, upper = tiles * (tiles + 1) / 2;
  for (int tile = warp; tile < upper + (transports ? tiles * tiles : 0); tile += warps) {
    if (tile < upper) {  // pairs j ≥ i by rows: the other half is the mirror image
      int i = 0, rest = tile;
      for (; rest >= tiles - i; ++i) rest -= tiles - i;
      sum_tile<Width>(theta, theta, M, side * i, side * (i + rest), columns, mine);
    } else {
      const int i = (tile - upper) / tiles, j = (tile - upper) % tiles;
      sum_tile<Width>(theta, previous, M, side * i, side * j, columns, mine + M * M);
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(state.arrived + g, 1U) + 1 == static_cast<unsigned>(state.slices);
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x == 0) state.arrived[g] = 0;
  float *d2 = shared, *cost = shared + M * M, *row_sum = cost + M * M, *keys = row_sum + M;
  for (int index = threadIdx.x; index < M * M; index += threads) {
    const int i = index / M, j = index % M;
    const int at = i / side <= j / side ? index : j * M + i;
    float a = 0.0F, b = 0.0F;
#pragma unroll 4
    for (int s = 0; s < state.slices; ++s) {
      a += __ldcg(partial + s * 2 * M * M + at);
      if (transports) b += __ldcg(partial + (s * 2 + 1) * M * M + index);
    }
    d2[index] = a;
    cost[index] = b;
  }
  __syncthreads();
  write_weights(group, state, g, d2, cost, row_sum, keys);
}

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
  const std::int64_t stride = group.network.stride, column = blockIdx.x * static_cast<std::int64_t>(step_columns) + 2 * lane;
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

int few_slices(int particles, std::int64_t stride) {
  const int width = slice_width(particles);
  return static_cast<int>((stride + width - 1) / width);
}

void few_weights(const Group& group, const FlowState& state, cudaStream_t stream) {
  if (!state.flow.pairs()) return;
  const int M = group.particles;
  const int cloud = M * slice_width(M) * (state.flow.transports() ? 2 : 1);
  const int pairs = 2 * M * M + M + sorted_size(M * M);
  const auto bytes = static_cast<std::size_t>(std::max(cloud, pairs)) * sizeof(float);
  const auto kernel = slice_width(M) == 512 ? weights_kernel<512> : weights_kernel<256>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "weights: shared memory");
  const dim3 grid(static_cast<unsigned>(state.slices), static_cast<unsigned>(group.realizations));
  kernel<<<grid, threads, bytes, stream>>>(group, state);
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
