// Threads that work together: a thread block on the GPU, or one thread on the CPU, so that a block's arithmetic can be
// tested without a GPU. Sums over a warp's lanes always run in the same order.
#pragma once

#include "pits/cuda/settings.h"

namespace pits::cuda {

struct Alone {
  static constexpr int thread = 0, threads = 1, lane = 0, lanes = 1, warp = 0, warps = 1;
  void sync() const {}
  double lane_sum(double x) const { return x; }
};

#ifdef __CUDACC__
struct Block {
  static constexpr int lanes = 32;
  int thread, threads, lane, warp, warps;

  __device__ Block()
      : thread(threadIdx.x),
        threads(blockDim.x),
        lane(threadIdx.x % 32),
        warp(threadIdx.x / 32),
        warps(blockDim.x / 32) {}

  PITS_HOST_DEVICE void sync() const {
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
  }
  // All lanes of a warp call it, and all get the sum.
  PITS_HOST_DEVICE double lane_sum(double x) const {
#ifdef __CUDA_ARCH__
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xFFFFFFFFU, x, step);
#endif
    return x;
  }
};
#endif

}  // namespace pits::cuda
