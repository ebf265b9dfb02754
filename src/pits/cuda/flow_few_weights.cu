#include "pits/cuda/flow_few.cuh"

#include <algorithm>

#include "pits/cuda/device_array.cuh"
#include "pits/cuda/pair_weights.cuh"

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

}  // namespace pits::cuda
