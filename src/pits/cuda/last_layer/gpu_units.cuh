// Standardisation in every realization. Standardised contexts and rewards are stored beside the raw ones.
#pragma once

#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/state.cuh"

namespace pits::cuda {

class GpuUnits {
 public:
  // Without standardisation, contexts and rewards stay as they come, and what is known of the rewards' scale is kept.
  GpuUnits(const Settings& settings, int realizations, int rounds);

  static std::size_t bytes(const Settings& settings, std::size_t realizations, std::size_t rounds);

  const RewardUnits* reward_units() const { return reward_units_.data(); }
  // (G,T,context_stride) in units, or empty.
  const DeviceArray<float>& contexts() const { return contexts_; }
  const DeviceArray<ColumnUnits>& column_units() const { return column_units_; }
  std::vector<RewardUnits> reward_units_on_host() const { return reward_units_.to_host(); }

  // Standardises by the first `seen` observations: their rewards, and the contexts of rounds before `upto`. `raw` are
  // the contexts as they came.
  void refresh(const GroupView& group, const float* raw, int seen, int upto, cudaStream_t stream);

 private:
  bool standardised_;
  int counted_ = 0;  // observations in the moments
  DeviceArray<float> contexts_;
  DeviceArray<Moments> column_moments_;  // (G,d)
  DeviceArray<ColumnUnits> column_units_;
  DeviceArray<RewardMoments> reward_moments_;  // (G)
  DeviceArray<RewardUnits> reward_units_;
};

}  // namespace pits::cuda
