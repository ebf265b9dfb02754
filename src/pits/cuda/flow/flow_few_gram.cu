// The distances of few particles by products of tensor cores, for --precision tf32: ‖a − b‖² = ‖a‖² + ‖b‖² − 2 a·b of
// particles less their mean, products split in three.
#include <cuda_pipeline.h>

#include <algorithm>

#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/device/tensor.cuh"
#include "pits/cuda/flow/few_pairs.cuh"

namespace pits::cuda {
namespace {

using namespace few;

constexpr unsigned all_lanes = 0xFFFFFFFFU;
constexpr int stages = few_slice_width(particles_by_products) / (16 * warps);  // groups of sixteen columns of a warp
static_assert(few_slice_width(1) == few_slice_width(particles_by_products));

// Four columns of rows g, g+8, ... of a matrix, as operands of products over sixteen columns: columns 4t, 4t+1 are
// those of the first product, 4t+2 and 4t+3 of the second.
template <int Rows>
struct Columns {
  float4 x[Rows];

  // From where stage() has put them.
  __device__ void load(const float4* staged) {
#pragma unroll
    for (int r = 0; r < Rows; ++r) x[r] = staged[r * 32 + threadIdx.x % 32];
  }
  // Starts to copy them to shared memory, where the lane itself will read them; zeros for what is not there.
  __device__ static void stage(const float* row_g, std::int64_t stride, int M, bool inside, float4* to) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      if (inside && 8 * r + lane / 4 < M) {
        __pipeline_memcpy_async(to + r * 32 + lane, row_g + 8 * r * stride, sizeof(float4));
      } else {
        to[r * 32 + lane] = float4{};
      }
    }
  }
  __device__ float4 mean(int M) const {
    float4 sum = x[0];
#pragma unroll
    for (int r = 1; r < Rows; ++r) sum = {sum.x + x[r].x, sum.y + x[r].y, sum.z + x[r].z, sum.w + x[r].w};
#pragma unroll
    for (int step = 4; step < 32; step *= 2) {
      sum.x += __shfl_xor_sync(all_lanes, sum.x, step);
      sum.y += __shfl_xor_sync(all_lanes, sum.y, step);
      sum.z += __shfl_xor_sync(all_lanes, sum.z, step);
      sum.w += __shfl_xor_sync(all_lanes, sum.w, step);
    }
    const float share = 1.0F / static_cast<float>(M);
    return {share * sum.x, share * sum.y, share * sum.z, share * sum.w};
  }
  // Rows that are there less `origin`, and their squares.
  __device__ void centre(const float4& origin, int M, float (&norm)[Rows]) {
    const int g = threadIdx.x % 32 / 4;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      if (8 * r + g >= M) continue;
      float4& y = x[r];
      y = {y.x - origin.x, y.y - origin.y, y.z - origin.z, y.w - origin.w};
      norm[r] = fmaf(y.x, y.x, fmaf(y.y, y.y, fmaf(y.z, y.z, fmaf(y.w, y.w, norm[r]))));
    }
  }
  __device__ Operand<2, true> right(int r, int product) const {
    Operand<2, true> b;
    b.set(0, product == 0 ? x[r].x : x[r].z);
    b.set(1, product == 0 ? x[r].y : x[r].w);
    return b;
  }
};

// Rows 16m+g and 16m+8+g of the left factor.
template <int Rows>
__device__ Operand<4, true> left(const Operand<2, true> (&y)[Rows], int m) {
  const Operand<2, true> none{};
  const Operand<2, true>&above = y[2 * m], &below = 2 * m + 1 < Rows ? y[2 * m + 1 < Rows ? 2 * m + 1 : 0] : none;
  return {{above.high[0], below.high[0], above.high[1], below.high[1]},
          {above.low[0], below.low[0], above.low[1], below.low[1]}};
}

// Products y·y by tiles (16,8) on and above the diagonal, then y·y′.
template <int Rows>
struct Tiles {
  static constexpr int left = (Rows + 1) / 2;
  static constexpr int same = left * Rows - left * (left - 1);
  static constexpr int all = same + left * Rows;
  __device__ static constexpr int of_same(int m, int r) { return m * Rows - m * (m - 1) + r - 2 * m; }
};

// ‖θ_i − θ_j‖² and ‖θ_i − θ′_j‖² over a slice: the warps' sums are added up in order. `sums` (warps, tiles, lane), then
// norms (warps, 2, 32).
template <int Rows>
__device__ void write_slice(const float4* sums, const float* norms, int M, bool transports, float* out) {
  using T = Tiles<Rows>;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const auto norm = [&](int of, int row) {
    float sum = 0.0F;
    for (int w = 0; w < warps; ++w) sum += norms[(2 * w + of) * 32 + row];
    return sum;
  };
  for (int tile = threadIdx.x / 32; tile < (transports ? T::all : T::same); tile += warps) {
    const bool same = tile < T::same;
    int m = same ? 0 : (tile - T::same) / Rows, r = same ? tile : (tile - T::same) % Rows;
    for (; same && r >= Rows; ++m) r -= Rows - 2 * (m + 1);
    float4 four{};
    for (int w = 0; w < warps; ++w) {
      const float4 x = sums[(w * T::all + tile) * 32 + lane];
      four = {four.x + x.x, four.y + x.y, four.z + x.z, four.w + x.w};
    }
    const float dot[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int i = 16 * m + g + 8 * (e / 2), j = 8 * r + 2 * t + e % 2;
      if (i >= M || j >= M) continue;
      const float distance = norm(0, i) + norm(same ? 0 : 1, j) - 2.0F * dot[e];
      out[(same ? 0 : M * M) + i * M + j] = same && i == j ? 0.0F : distance;
    }
  }
}

// Begins to load a warp's columns of θ, and of θ′ where there is a transport, stage by stage.
template <int Rows>
__device__ __forceinline__ void stage_columns(const GroupView& group, const FlowState& state, bool transports,
                                              float4* staged) {
  const int M = group.particles, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t stride = group.network.stride, first = static_cast<std::int64_t>(blockIdx.x) * few_slice_width(M);
  const std::int64_t end = min(first + few_slice_width(M), stride);
  const std::int64_t row = (static_cast<std::int64_t>(blockIdx.y) * M + lane / 4) * stride;
#pragma unroll
  for (int s = 0; s < stages; ++s) {
    const std::int64_t column = first + 16 * (warp + s * warps) + 4 * (lane % 4);
    Columns<Rows>::stage(group.theta + row + column, stride, M, column < end, staged + s * 2 * Rows * 32);
    if (!transports) continue;
    Columns<Rows>::stage(state.previous + row + column, stride, M, column < end, staged + (2 * s + 1) * Rows * 32);
  }
}

// Adds the products of the columns y with each other, and with those of θ′ where there is a transport.
template <int Rows>
__device__ __forceinline__ void add_products(const Columns<Rows>& y, const Columns<Rows>& before, bool transports,
                                             float (&sum)[Tiles<Rows>::all][4]) {
  using T = Tiles<Rows>;
#pragma unroll
  for (int product = 0; product < 2; ++product) {
    Operand<2, true> b[Rows];
#pragma unroll
    for (int r = 0; r < Rows; ++r) b[r] = y.right(r, product);
#pragma unroll
    for (int m = 0; m < T::left; ++m) {
      const Operand<4, true> a = left(b, m);
#pragma unroll
      for (int r = 2 * m; r < Rows; ++r) multiply_add(sum[T::of_same(m, r)], a, b[r]);
      if (!transports) continue;
#pragma unroll
      for (int r = 0; r < Rows; ++r) multiply_add(sum[T::same + m * Rows + r], a, before.right(r, product));
    }
  }
}

// A warp's sums and norms to shared memory.
template <int Rows>
__device__ __forceinline__ void store_sums(const float (&sum)[Tiles<Rows>::all][4], const float (&norm)[2][Rows],
                                           float4* memory, float* norms) {
  using T = Tiles<Rows>;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int tile = 0; tile < T::all; ++tile) {
    memory[(warp * T::all + tile) * 32 + lane] = {sum[tile][0], sum[tile][1], sum[tile][2], sum[tile][3]};
  }
#pragma unroll
  for (int i = 0; i < 2 * Rows; ++i) {
    float x = norm[i / Rows][i % Rows];
    x += __shfl_xor_sync(all_lanes, x, 1);
    x += __shfl_xor_sync(all_lanes, x, 2);
    if (lane % 4 == 0) norms[(2 * warp + i / Rows) * 32 + 8 * (i % Rows) + lane / 4] = x;
  }
}

// Blocks (slice, realization). M ≤ 8 Rows.
template <int Rows>
__global__ void __launch_bounds__(threads, 2) gram_kernel(const GroupView group, const FlowState state) {
  extern __shared__ float4 memory[];
  const int M = group.particles, g = blockIdx.y, warp = threadIdx.x / 32;
  if (group.training[g].trains == 0) return;
  const bool transports = has_transport(state.flow);
  float4* staged = memory + warp * (stages * 2 * Rows * 32);
  stage_columns<Rows>(group, state, transports, staged);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  float sum[Tiles<Rows>::all][4] = {}, norm[2][Rows] = {};
#pragma unroll 1
  for (int s = 0; s < stages; ++s) {
    Columns<Rows> y, before;
    y.load(staged + s * 2 * Rows * 32);
    if (transports) before.load(staged + (2 * s + 1) * Rows * 32);
    const float4 mean = y.mean(M);
    y.centre(mean, M, norm[0]);
    if (transports) before.centre(mean, M, norm[1]);
    add_products(y, before, transports, sum);
  }
  __syncthreads();  // the sums go where the columns were
  float* norms = reinterpret_cast<float*>(memory + warps * Tiles<Rows>::all * 32);
  store_sums(sum, norm, memory, norms);
  __syncthreads();
  float* out = state.partial + (static_cast<std::size_t>(g) * state.slices + blockIdx.x) * 2 * M * M;
  write_slice<Rows>(memory, norms, M, transports, out);
  if (last_to_arrive(state, g)) finish(group, state, g, 16, reinterpret_cast<float*>(memory));
}

template <int Rows>
void launch(const GroupView& group, const FlowState& state, cudaStream_t stream) {
  const int sums = warps * (Tiles<Rows>::all * 128 + 64), columns = warps * stages * 2 * Rows * 128;
  const int floats = std::max({sums, columns, pair_floats(group.particles)});
  const auto bytes = static_cast<std::size_t>(floats) * sizeof(float);
  const auto kernel = gram_kernel<Rows>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "weights: shared memory");
  const dim3 grid(static_cast<unsigned>(state.slices), static_cast<unsigned>(group.realizations));
  kernel<<<grid, threads, bytes, stream>>>(group, state);
  check(cudaGetLastError(), "weights");
}

}  // namespace

void few_weights_by_products(const GroupView& group, const FlowState& state, cudaStream_t stream) {
  switch ((group.particles + 7) / 8) {
    case 1: return launch<1>(group, state, stream);
    case 2: return launch<2>(group, state, stream);
    case 3: return launch<3>(group, state, stream);
    default: return launch<4>(group, state, stream);
  }
}

}  // namespace pits::cuda
