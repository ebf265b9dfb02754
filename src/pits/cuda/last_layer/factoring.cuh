// Where blocks factor the precisions of regressions: in shared memory, or in scratch memory where that is too small.
#pragma once

#include <algorithm>

#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/last_layer/features.h"

namespace pits::cuda {

constexpr int blocks_per_processor = 4;  // that factor in scratch memory
constexpr int work_vectors = panel + 1;  // (F) of a block that factors

inline std::size_t work_bytes(int F) { return work_vectors * static_cast<std::size_t>(F) * sizeof(double); }
inline std::size_t triangle_bytes(int F) { return static_cast<std::size_t>(packed_size(F)) * sizeof(double); }
inline bool in_shared(int F) { return work_bytes(F) + triangle_bytes(F) <= shared_limit; }

// Blocks that factor in scratch memory: as many as this GPU runs at once.
inline std::size_t workers(std::size_t regressions) {
  int device = 0, processors = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return std::min(static_cast<std::size_t>(blocks_per_processor * processors), regressions);
}

// Doubles of scratch memory that factoring needs.
inline std::size_t factor_scratch(int F, std::size_t regressions) {
  return in_shared(F) ? 0 : workers(regressions) * static_cast<std::size_t>(packed_size(F));
}

// Blocks that factor, and their shared memory.
struct Factoring {
  unsigned blocks;
  std::size_t bytes;

  Factoring(int F, std::size_t regressions)
      : blocks(static_cast<unsigned>(in_shared(F) ? regressions : workers(regressions))),
        bytes(work_bytes(F) + (in_shared(F) ? triangle_bytes(F) : 0)) {}
};

// Where a block factors: in shared memory after its vectors, or in scratch memory.
template <bool InShared>
__device__ double* triangle(int F, double* scratch, double* memory) {
  if constexpr (InShared) return memory + work_vectors * F;
  return scratch + static_cast<std::int64_t>(blockIdx.x) * packed_size(F);
}

// A block may take 48 KiB of shared memory without being asked.
template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  if (bytes <= std::size_t{48} << 10) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "last layers: shared memory");
}

}  // namespace pits::cuda
