// The memory of a group on the card, and how much of it there is.
#pragma once

#include <optional>
#include <span>

#include "pits/cuda/blas.cuh"
#include "pits/cuda/card_units.cuh"
#include "pits/cuda/device_array.cuh"
#include "pits/cuda/flow_few.cuh"
#include "pits/cuda/flow_many.cuh"
#include "pits/cuda/last_layers.cuh"
#include "pits/cuda/score_wide.cuh"

namespace pits::cuda {

class CardGroup {
 public:
  CardGroup(const Settings& settings, std::span<const std::uint32_t> realizations, std::size_t rounds);

  static std::size_t bytes(const Settings& settings, std::size_t realizations, std::size_t rounds);

  const Settings& settings() const { return settings_; }
  const Group& view() const { return group_; }
  // Observations of a minibatch once `seen` are there.
  int batch_after(std::size_t seen) const;
  // One training step on `main`; `beside` may work at the same time on what does not wait for the scores.
  void train_step(int step, int batch, cudaStream_t main, cudaStream_t beside, cudaEvent_t fork, cudaEvent_t join);

  DeviceArray<float>& contexts() { return contexts_; }
  DeviceArray<float>& rewards() { return rewards_; }
  DeviceArray<TrainingState>& training() { return training_; }
  DeviceArray<float>& theta() { return theta_; }
  const DeviceArray<float>& score() const { return score_; }
  const DeviceArray<float>& gained() const { return gained_; }
  const CardUnits* units() const { return units_ ? &*units_ : nullptr; }
  CardLastLayers* last_layers() { return last_layers_ ? &*last_layers_ : nullptr; }
  DeviceArray<std::int32_t>& played() { return played_; }
  const DeviceArray<std::int32_t>& diverged() const { return diverged_; }
  void use_blas(cudaStream_t stream);
  // Before a training on the first `seen` observations: units settle, for contexts of rounds before `upto` too, and
  // products get their contexts. Needed again after contexts were written.
  void settle(std::size_t seen, std::size_t upto, cudaStream_t stream);
  // θ′ begins where θ does.
  void start_transport();

 private:
  Group group_view() const;
  FlowState flow_view() const;

  Settings settings_;
  int realizations_, rounds_;
  DeviceArray<std::uint32_t> realization_;
  DeviceArray<float> contexts_, context_scale_, rewards_, gained_;
  DeviceArray<__half> half_contexts_;
  DeviceArray<std::int32_t> played_, diverged_;
  DeviceArray<float> theta_, score_, previous_, first_, second_;
  DeviceArray<TrainingState> training_;
  DeviceArray<StepSize> step_sizes_;
  DeviceArray<float> partial_, weights_;
  DeviceArray<std::uint32_t> arrived_;
  std::optional<CardUnits> units_;
  std::optional<CardLastLayers> last_layers_;
  std::optional<Blas> blas_;
  std::optional<WideScore> wide_;
  std::optional<ManyFlow> many_;
  Group group_;
  FlowState flow_;
};

}  // namespace pits::cuda
