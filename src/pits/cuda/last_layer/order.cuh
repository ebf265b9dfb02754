// The history of every realization, action by action.
#pragma once

#include "pits/cuda/state.cuh"

namespace pits::cuda {

// Of realizations that train: the rounds that the history holds, action by action and in order, into `order` (G,T), and
// where each action's begin into `start` (G,K+1).
void order_history(const GroupView& group, std::int32_t* order, std::int32_t* start, cudaStream_t stream);

}  // namespace pits::cuda
