#include "pits/cuda/score/contexts.cuh"

#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/device/tensor.cuh"

namespace pits::cuda {
namespace {

constexpr int side = 32;  // columns of a block, and rows that it looks at together

// Blocks (columns, realization).
__global__ void scale_kernel(const GroupView group, int all_rounds, __half* halves, float* scale) {
  __shared__ float largest[side][side];
  const TrainingState& training = group.training[blockIdx.y];
  if (all_rounds == 0 && training.trains == 0) return;
  const int rounds = all_rounds > 0 ? all_rounds : static_cast<int>(training.seen);
  const int column = blockIdx.x * side + threadIdx.x, row = threadIdx.y, stride = group.context_stride;
  const std::size_t first = static_cast<std::size_t>(blockIdx.y) * group.rounds * stride + column;
  float most = 0.0F;
  if (column < stride) {
    for (int t = row; t < rounds; t += side) {
      most = fmaxf(most, fabsf(group.contexts[first + static_cast<std::size_t>(t) * stride]));
    }
  }
  largest[row][threadIdx.x] = most;
  __syncthreads();
  if (column >= stride) return;
  for (int i = 0; i < side; ++i) most = fmaxf(most, largest[i][threadIdx.x]);
  const int e = most > 0.0F ? exponent_of(most) : 0;
  if (row == 0) scale[static_cast<std::size_t>(blockIdx.y) * stride + column] = power_of_two(e);
  for (int t = row; t < rounds; t += side) {
    const std::size_t at = first + static_cast<std::size_t>(t) * stride;
    halves[at] = __float2half_rn(power_of_two(-e) * group.contexts[at]);
  }
}

}  // namespace

void scale_contexts(const GroupView& group, int rounds, __half* half_contexts, float* context_scale,
                    cudaStream_t stream) {
  const dim3 grid(blocks_for(static_cast<std::size_t>(group.context_stride), side),
                  static_cast<unsigned>(group.realizations));
  scale_kernel<<<grid, dim3(side, side), 0, stream>>>(group, rounds, half_contexts, context_scale);
  check(cudaGetLastError(), "contexts");
}

}  // namespace pits::cuda
