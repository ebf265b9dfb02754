// Contexts in float16, for products whose factors have 10 bits of mantissa.
#pragma once

#include "pits/cuda/state.cuh"

namespace pits::cuda {

// Every column of a realization, in its first `rounds` rounds, divided by the power of two that brings its largest
// number there into [1,2). 0: of every realization that trains, in the rounds that it has seen.
void scale_contexts(const GroupView& group, int rounds, __half* half_contexts, float* context_scale,
                    cudaStream_t stream);

}  // namespace pits::cuda
