// The memory of a group on the GPU, and how much of it there is.
#pragma once

#include <optional>
#include <span>

#include "pits/cuda/device/blas.cuh"
#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/flow/flow_few.cuh"
#include "pits/cuda/flow/flow_many.cuh"
#include "pits/cuda/last_layer/gpu_units.cuh"
#include "pits/cuda/last_layer/last_layers.cuh"
#include "pits/cuda/mixture/gpu_mixture.cuh"
#include "pits/cuda/score/score_wide.cuh"

namespace pits::cuda {

class GpuGroup {
 public:
  GpuGroup(const Settings& settings, std::span<const std::uint32_t> realizations, std::size_t rounds);

  static std::size_t bytes(const Settings& settings, std::size_t realizations, std::size_t rounds);

  const Settings& settings() const { return settings_; }
  const GroupView& view() const { return group_; }
  // Observations of a minibatch once `seen` are there.
  int batch_after(std::size_t seen) const;
  // One training step on `main`; `beside` may work at the same time on what does not wait for the scores.
  void train_step(int step, int batch, cudaStream_t main, cudaStream_t beside, cudaEvent_t fork, cudaEvent_t join);

  DeviceArray<float>& contexts() { return contexts_; }
  DeviceArray<float>& rewards() { return rewards_; }
  DeviceArray<TrainingState>& training() { return training_; }
  DeviceArray<float>& theta() { return theta_; }
  const DeviceArray<float>& score() const { return score_; }
  const DeviceArray<float>& rewards_received() const { return rewards_received_; }
  const GpuUnits* units() const { return units_ ? &*units_ : nullptr; }
  GpuLastLayers* last_layers() { return last_layers_ ? &*last_layers_ : nullptr; }
  GpuMixture* mixture() { return mixture_ ? &*mixture_ : nullptr; }
  DeviceArray<std::int32_t>& actions_taken() { return actions_taken_; }
  const DeviceArray<std::int32_t>& diverged() const { return diverged_; }
  void use_blas(cudaStream_t stream);
  // After contexts were written: they are there in the units of now, and for products.
  void take_contexts(cudaStream_t stream);
  // Before a training: units are refreshed, for contexts of rounds before `upto` too.
  void refresh(std::size_t upto, cudaStream_t stream);
  // θ′ begins where θ does.
  void start_transport();

 private:
  GroupView group_view() const;
  FlowState flow_view() const;

  Settings settings_;
  int realizations_, rounds_;
  DeviceArray<std::uint32_t> realization_;
  DeviceArray<float> contexts_, context_scale_, rewards_, rewards_received_;
  DeviceArray<__half> half_contexts_;
  DeviceArray<std::int32_t> actions_taken_, diverged_;
  DeviceArray<float> theta_, score_, previous_, first_, second_;
  DeviceArray<TrainingState> training_;
  DeviceArray<StepFactors<float>> steps_;
  DeviceArray<float> partial_, weights_;
  DeviceArray<std::uint32_t> arrived_;
  std::optional<GpuUnits> units_;
  std::optional<GpuLastLayers> last_layers_;
  std::optional<GpuMixture> mixture_;
  std::optional<Blas> blas_;
  std::optional<WideScore> wide_;
  std::optional<ManyFlow> many_;
  GroupView group_;
  FlowState flow_;
};

}  // namespace pits::cuda
