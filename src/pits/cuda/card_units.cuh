// The units of every realization: contexts and rewards in them lie on the card beside those that came.
#pragma once

#include "pits/cuda/device_array.cuh"
#include "pits/cuda/state.cuh"

namespace pits::cuda {

class CardUnits {
 public:
  // Without standardisation, contexts and rewards stay as they come, and what is known of the rewards' scale is kept.
  CardUnits(const Settings& settings, int realizations, int rounds);

  static std::size_t bytes(const Settings& settings, std::size_t realizations, std::size_t rounds);

  const RewardUnits* reward_units() const { return reward_units_.data(); }
  // (G,T,context_stride) in units, or empty.
  const DeviceArray<float>& contexts() const { return contexts_; }
  const DeviceArray<ColumnUnits>& column_units() const { return column_units_; }
  std::vector<RewardUnits> settled_rewards() const { return reward_units_.to_host(); }

  // What the first `seen` observations say from now on, for all of them and for contexts of rounds before `upto`.
  // `raw` are the contexts that came.
  void settle(const Group& group, const float* raw, int seen, int upto, cudaStream_t stream);

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
