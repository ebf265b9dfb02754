// The scores of networks with one hidden layer of at most 63 units, in one kernel: a thread block owns a particle, its
// weights stay in shared memory, the minibatch streams through the tensor cores.
#pragma once

#include "pits/cuda/state.cuh"

namespace pits::cuda {

// Whether the kernel fits a network, for contexts of a stride.
bool is_narrow(const NetworkLayout& network, int context_stride);

// score(i,·) = ∇U(θ_i) at training step `step` of the current training, for all particles of all realizations.
void score_narrow(const GroupView& group, GpuPrecision precision, int step, cudaStream_t stream);

}  // namespace pits::cuda
