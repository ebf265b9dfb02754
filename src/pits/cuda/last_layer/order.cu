#include "pits/cuda/last_layer/order.cuh"

#include "pits/cuda/device/device_array.cuh"

namespace pits::cuda {
namespace {

constexpr int threads = 256;

// Blocks (action, realization).
__global__ void __launch_bounds__(threads)
    order_kernel(const GroupView group, std::int32_t* order_of_all, std::int32_t* start_of_all) {
  __shared__ int smaller, of_warp[threads / 32];
  const int a = blockIdx.x, g = blockIdx.y, thread = threadIdx.x, K = group.actions;
  const TrainingState& training = group.training[g];
  if (training.trains == 0) return;
  const int last = static_cast<int>(training.seen), first = last - static_cast<int>(kept(group, training));
  const std::int32_t* actions_taken = group.actions_taken + static_cast<std::size_t>(g) * group.rounds;
  std::int32_t* order = order_of_all + static_cast<std::size_t>(g) * group.rounds;
  if (thread == 0) smaller = 0;
  __syncthreads();
  int mine = 0;
  for (int t = first + thread; t < last; t += threads) mine += actions_taken[t] < a ? 1 : 0;
  atomicAdd(&smaller, mine);
  __syncthreads();
  int next = smaller;
  for (int from = first; from < last; from += threads) {
    const int t = from + thread;
    const bool here = t < last && actions_taken[t] == a;
    const unsigned ballot = __ballot_sync(0xFFFFFFFFU, here);
    if (thread % 32 == 0) of_warp[thread / 32] = __popc(ballot);
    __syncthreads();
    int before = __popc(ballot & ((1U << thread % 32) - 1)), total = 0;
    for (int w = 0; w < threads / 32; ++w) {
      before += w < thread / 32 ? of_warp[w] : 0;
      total += of_warp[w];
    }
    if (here) order[next + before] = t;
    next += total;
    __syncthreads();
  }
  std::int32_t* start = start_of_all + static_cast<std::size_t>(g) * (K + 1);
  if (thread == 0) start[a] = smaller;
  if (thread == 0 && a == K - 1) start[K] = last - first;
}

}  // namespace

void order_history(const GroupView& group, std::int32_t* order, std::int32_t* start, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(group.actions), static_cast<unsigned>(group.realizations));
  order_kernel<<<grid, threads, 0, stream>>>(group, order, start);
  check(cudaGetLastError(), "last layers: order");
}

}  // namespace pits::cuda
