// Computes the cells of particle agents on the GPU, in groups of realizations that step together; other cells go to
// the executor of the CPU.
#pragma once

#include <memory>

#include "pits/cuda/settings.h"
#include "pits/experiment/ranks/executor.h"

namespace pits::cuda {

// Why the GPU cannot compute all cells of a plan: the first agent without a GPU version; empty: it can.
std::string without_gpu_version(const Plan& plan);

// The most realizations, at most `wanted`, whose memory fits into `free` bytes; 0: not even one.
std::size_t largest_group(const Settings& settings, std::size_t wanted, std::size_t rounds, std::size_t free);

class GpuExecutor final : public Executor {
 public:
  explicit GpuExecutor(std::unique_ptr<Executor> cpu) : cpu_(std::move(cpu)) {}
  bool leads() const override { return cpu_->leads(); }
  void run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
           const RoundsDone& done) override;
  ExitStatus end(const ExitStatus& mine) override { return cpu_->end(mine); }

 private:
  std::unique_ptr<Executor> cpu_;
};

}  // namespace pits::cuda
