#include "pits/cuda/training_graphs.cuh"

#include <algorithm>

namespace pits::cuda {
namespace {

constexpr unsigned threads = 128;

constexpr int most_steps_of_a_graph = 100;

// All realizations train on `seen` observations.
__global__ void begin_kernel(TrainingState* training, int realizations, std::uint32_t seen) {
  const int g = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (g >= realizations) return;
  training[g].seen = seen;
  training[g].trains = training[g].refreshes = 1;
}

__global__ void count_kernel(TrainingState* training, int realizations, std::uint32_t steps) {
  const int g = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (g < realizations && training[g].trains != 0) training[g].first_step += steps;
}

}  // namespace

void begin_training(GpuGroup& group, std::size_t seen, cudaStream_t stream) {
  const int G = group.view().realizations;
  begin_kernel<<<blocks_for(static_cast<std::size_t>(G), threads), threads, 0, stream>>>(
      group.training().data(), G, static_cast<std::uint32_t>(seen));
  check(cudaGetLastError(), "begin_training");
}

TrainingGraphs::~TrainingGraphs() {
  for (const auto& [recording, graph] : graphs_) cudaGraphExecDestroy(graph);
}

cudaGraphExec_t TrainingGraphs::find(const Recording& recording, GpuGroup& group, const GpuStream& main) {
  const auto found = graphs_.find(recording);
  if (found != graphs_.end()) return found->second;
  if (graphs_.size() > 4) {  // minibatches that grow with the rounds: the old ones do not come back
    for (const auto& [old, exec] : graphs_) cudaGraphExecDestroy(exec);
    graphs_.clear();
  }
  const GpuEvent fork, join;
  group.use_blas(main.handle);
  check(cudaStreamBeginCapture(main.handle, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  cudaGraph_t captured = nullptr;
  try {
    for (int i = 0; i < recording.steps; ++i) {
      group.train_step(i, recording.batch, main.handle, beside_.handle, fork.handle, join.handle);
    }
  } catch (...) {
    cudaStreamEndCapture(main.handle, &captured);
    cudaGraphDestroy(captured);
    throw;
  }
  check(cudaStreamEndCapture(main.handle, &captured), "cudaStreamEndCapture");
  cudaGraphExec_t exec = nullptr;
  const cudaError_t made = cudaGraphInstantiate(&exec, captured, 0);
  cudaGraphDestroy(captured);
  check(made, "cudaGraphInstantiate");
  return graphs_[recording] = exec;
}

void TrainingGraphs::run(int steps, int batch, GpuGroup& group, const GpuStream& main) {
  const int G = group.view().realizations;
  while (steps > 0) {
    const int now = std::min(steps, most_steps_of_a_graph);
    check(cudaGraphLaunch(find({now, batch}, group, main), main.handle), "cudaGraphLaunch");
    count_kernel<<<blocks_for(static_cast<std::size_t>(G), threads), threads, 0, main.handle>>>(
        group.training().data(), G, static_cast<std::uint32_t>(now));
    check(cudaGetLastError(), "count_steps");
    steps -= now;
  }
}

}  // namespace pits::cuda
