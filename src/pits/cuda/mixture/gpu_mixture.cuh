// The mixture of networks and a linear model (posterior/mixture.h) on the GPU, in every realization. Rounds are played
// one after the other; realizations train when they are due, each by itself.
#pragma once

#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/device/stream.cuh"
#include "pits/cuda/mixture/mixture_view.h"

namespace pits::cuda {

class GpuMixture {
 public:
  GpuMixture(const Settings& settings, int realizations, int rounds, TrainingState* training);

  static std::size_t bytes(const Settings& settings, std::size_t realizations, std::size_t rounds);

  const float* noise_precisions() const { return noise_precisions_.data(); }  // (G,M) for the next training

  // As before any observation.
  void start(const GroupView& group, cudaStream_t stream);
  // Plays rounds from `first` on, up to the first after which a realization trains, or to `last` − 1. Returns the
  // number of the next round.
  int play(const GroupView& group, const DecisionSettings& choice, int first, int last, const GpuStream& stream);
  bool trains() const { return *any_trains_ != 0; }  // after the last round

  // Of realizations that train. The noise is the one found so far, in the units of the last fit, and used in those that
  // were refreshed since.
  void find_noise(const GroupView& group, cudaStream_t stream);
  void use_noise(const GroupView& group, cudaStream_t stream);
  void fit(const GroupView& group, cudaStream_t stream);

  std::vector<std::int32_t> singular() const { return singular_.to_host(); }
  std::vector<float> means() const { return mean_.to_host(); }  // (G,sets,K,width)
  std::vector<MixtureState> states() const { return state_.to_host(); }

 private:
  struct PinnedFlag {
    std::uint32_t* data = nullptr;
    PinnedFlag();
    ~PinnedFlag() { cudaFreeHost(data); }
    PinnedFlag(const PinnedFlag&) = delete;
    PinnedFlag& operator=(const PinnedFlag&) = delete;
    std::uint32_t& operator*() const { return *data; }
  };
  void allocate(const Settings& settings, std::size_t realizations, std::size_t rounds);

  PinnedFlag any_trains_;
  DeviceArray<float> covariance_, mean_, deviation_, features_, projection_, noise_precisions_;
  DeviceArray<double> sums_, moment_, precision_, set_means_, scratch_, change_numbers_, noise_variances_;
  DeviceArray<RegressionTotals> totals_;
  DeviceArray<EvidenceTerms> evidence_terms_;
  DeviceArray<MixtureState> state_;
  DeviceArray<TrackerTimes> times_;
  DeviceArray<ChangeState> change_state_;
  DeviceArray<std::uint32_t> pulls_, intervals_;
  DeviceArray<std::int32_t> order_, start_, singular_;
  MixtureView view_;
};

}  // namespace pits::cuda
