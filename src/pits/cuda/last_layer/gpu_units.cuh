// Units in every realization. Contexts and rewards in units are stored beside the raw ones.
#pragma once

#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/last_layer/units.h"
#include "pits/cuda/state.cuh"

namespace pits::cuda {

// All arrays are on the GPU.
struct UnitsView {
  UnitsKind kind;
  int raw_size;                   // d, without level columns
  const float* raw;               // (G,T,context_stride) contexts as they came
  float* contexts;                // (G,T,context_stride) in units, or null
  Moments* column_moments;        // (G,d)
  ColumnUnits* column_units;      // (G,d)
  LevelMark* marks;               // (G,level columns)
  std::uint32_t* counted;         // (G,d+1) observations in the moments of columns and rewards
  RewardMoments* reward_moments;  // (G)
  RewardUnits* reward_units;      // (G)
};

class GpuUnits {
 public:
  // Of kind raw, contexts and rewards stay as they come, and what is known of the rewards' scale is kept.
  GpuUnits(const Settings& settings, int realizations, int rounds);

  static std::size_t bytes(const Settings& settings, std::size_t realizations, std::size_t rounds);

  const RewardUnits* reward_units() const { return reward_units_.data(); }
  // (G,T,context_stride) in units, or empty.
  const DeviceArray<float>& contexts() const { return contexts_; }
  std::vector<RewardUnits> reward_units_on_host() const { return reward_units_.to_host(); }

  // As before any observation. `raw` are the contexts as they came.
  void start(const GroupView& group, const float* raw, cudaStream_t stream);
  // In realizations whose training refreshes units: by what they have seen, for its rewards and for the contexts of
  // rounds before `upto`.
  void refresh(const GroupView& group, const float* raw, int upto, cudaStream_t stream);

 private:
  UnitsView view(const float* raw) const;
  void write_contexts(const GroupView& group, const float* raw, int upto, bool all, cudaStream_t stream);

  UnitsKind kind_;
  int raw_size_;
  DeviceArray<float> contexts_;
  DeviceArray<Moments> column_moments_;
  DeviceArray<ColumnUnits> column_units_;
  DeviceArray<LevelMark> marks_;
  DeviceArray<std::uint32_t> counted_;
  DeviceArray<RewardMoments> reward_moments_;
  DeviceArray<RewardUnits> reward_units_;
};

}  // namespace pits::cuda
