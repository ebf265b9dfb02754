// The steps of a training as a graph of kernels, captured once and launched again and again.
#pragma once

#include <map>

#include "pits/cuda/device/stream.cuh"
#include "pits/cuda/gpu_group.cuh"

namespace pits::cuda {

// All realizations are to train on `seen` observations.
void begin_training(GpuGroup& group, std::size_t seen, cudaStream_t stream);

class TrainingGraphs {
 public:
  TrainingGraphs() = default;
  ~TrainingGraphs();
  TrainingGraphs(const TrainingGraphs&) = delete;
  TrainingGraphs& operator=(const TrainingGraphs&) = delete;

  // `steps` training steps with minibatches of `batch`, of realizations that train.
  void run(int steps, int batch, GpuGroup& group, const GpuStream& main);

 private:
  struct Recording {
    int steps, batch;
    bool operator<(const Recording& o) const { return steps != o.steps ? steps < o.steps : batch < o.batch; }
  };
  cudaGraphExec_t find(const Recording& recording, GpuGroup& group, const GpuStream& main);

  GpuStream beside_;
  std::map<Recording, cudaGraphExec_t> graphs_;
};

}  // namespace pits::cuda
