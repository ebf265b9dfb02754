#include "pits/cuda/mixture/mixture_fit.cuh"

#include "pits/cuda/last_layer/factoring.cuh"
#include "pits/cuda/last_layer/order.cuh"
#include "pits/cuda/mixture/fit.h"

namespace pits::cuda {
namespace {

constexpr int threads = 256;

// Blocks (action, set, realization).
__global__ void __launch_bounds__(threads, 2) sums_kernel(const GroupView group, const MixtureView v) {
  extern __shared__ double memory[];
  const int set = blockIdx.y, g = blockIdx.z;
  if (v.fits(g, set)) sum_action(Block(), group, v, g, set, blockIdx.x, memory);
}

// One block per regression, or several regressions per block.
template <bool InShared>
__global__ void __launch_bounds__(threads)
    fit_kernel(const GroupView group, const MixtureView v, std::int64_t regressions) {
  extern __shared__ double memory[];
  double* place = triangle<InShared>(v.width, v.scratch, memory);
  const int K = group.actions;
  for (std::int64_t r = blockIdx.x; r < regressions; r += gridDim.x) {
    const int a = static_cast<int>(r % K), set = static_cast<int>(r / K % v.sets), g = static_cast<int>(r / K / v.sets);
    if (v.fits(g, set)) fit_action(Block(), group, v, g, set, a, place, memory);
  }
}

// Blocks (set, realization).
__global__ void __launch_bounds__(threads) finish_kernel(const GroupView group, const MixtureView v, bool all) {
  const int set = blockIdx.x, g = blockIdx.y;
  if (all || v.fits(g, set)) finish_set(Block(), group, v, g, set);
}

void finish(const GroupView& group, const MixtureView& v, bool all, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(v.sets), static_cast<unsigned>(group.realizations));
  finish_kernel<<<grid, threads, 0, stream>>>(group, v, all);
  check(cudaGetLastError(), "mixture: precisions");
}

}  // namespace

void start_regressions(const GroupView& group, const MixtureView& v, cudaStream_t stream) {
  finish(group, v, true, stream);
}

void fit_regressions(const GroupView& group, const MixtureView& v, cudaStream_t stream) {
  const auto K = static_cast<unsigned>(group.actions), sets = static_cast<unsigned>(v.sets),
             G = static_cast<unsigned>(group.realizations);
  order_history(group, v.order, v.start, stream);
  const std::size_t tile = v.tile_room();
  allow_shared(sums_kernel, tile);
  sums_kernel<<<dim3(K, sets, G), threads, tile, stream>>>(group, v);
  check(cudaGetLastError(), "mixture: sums");
  const std::size_t regressions = std::size_t{K} * sets * G;
  const Factoring factoring(v.width, regressions);
  const auto kernel = in_shared(v.width) ? fit_kernel<true> : fit_kernel<false>;
  allow_shared(kernel, factoring.bytes);
  kernel<<<factoring.blocks, threads, factoring.bytes, stream>>>(group, v, static_cast<std::int64_t>(regressions));
  check(cudaGetLastError(), "mixture: fit");
  finish(group, v, false, stream);
}

}  // namespace pits::cuda
