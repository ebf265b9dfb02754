#include "pits/cuda/flow/flow_few.cuh"

#include <algorithm>

#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/flow/few_pairs.cuh"

namespace pits::cuda {
namespace {

using namespace few;

constexpr int side = 4;  // a lane carries side × side pairs of particles at once
constexpr unsigned all_lanes = 0xFFFFFFFFU;

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

// Blocks (slice, realization).
template <int Width>
__global__ void __launch_bounds__(threads) weights_kernel(const GroupView group, const FlowState state) {
  extern __shared__ float4 memory[];
  float* shared = reinterpret_cast<float*>(memory);
  const int M = group.particles, slice = blockIdx.x, g = blockIdx.y, warp = threadIdx.x / 32;
  if (group.training[g].trains == 0) return;
  const std::int64_t stride = group.network.stride, from = static_cast<std::int64_t>(slice) * Width;
  const int columns = static_cast<int>(min(static_cast<std::int64_t>(Width), stride - from));
  const bool transports = has_transport(state.flow);
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
  if (last_to_arrive(state, g)) finish(group, state, g, side, shared);
}

}  // namespace

int few_slices(int particles, std::int64_t stride) {
  const int width = few_slice_width(particles);
  return static_cast<int>((stride + width - 1) / width);
}

void few_weights(const GroupView& group, const FlowState& state, cudaStream_t stream) {
  const int M = group.particles;
  const int cloud = M * few_slice_width(M) * (has_transport(state.flow) ? 2 : 1);
  const auto bytes = static_cast<std::size_t>(std::max(cloud, pair_floats(M))) * sizeof(float);
  const auto kernel = few_slice_width(M) == 512 ? weights_kernel<512> : weights_kernel<256>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "weights: shared memory");
  const dim3 grid(static_cast<unsigned>(state.slices), static_cast<unsigned>(group.realizations));
  kernel<<<grid, threads, bytes, stream>>>(group, state);
  check(cudaGetLastError(), "weights");
}

}  // namespace pits::cuda
