// Exact last layers on the card: for every realization, particle and action a regression of the rewards on the
// particle's features, and one draw from it (posterior/last_layers.h).
#pragma once

#include "pits/cuda/choice.cuh"
#include "pits/cuda/device_array.cuh"
#include "pits/cuda/evidence.h"
#include "pits/cuda/features.h"

namespace pits::cuda {

// A view; all arrays are on the card.
struct LastLayers {
  LastLayerSettings settings;
  int actions;      // K
  int tile;         // observations of a tile, and rounds whose features are known ahead
  double* inverse;  // (G,M,K,F(F+1)/2)
  double* moment;   // (G,M,K,F), and so the next three
  double* mean;
  double* draw;
  double* deviation;
  RegressionTotals* totals;  // (G,M,K)
  Determined* determined;    // (G,M,K)
  double* precision;         // (G,M,groups)
  std::int32_t* order;       // (G,T) the rounds of the history, action by action
  std::int32_t* start;       // (G,K+1) where they begin
  float* features;           // (G,M,tile,F) of the rounds to come
  std::int32_t* singular;    // (G) 1 where a precision matrix was singular to working precision
  double* scratch;           // a triangle for each block, where it does not fit into shared memory

  PITS_CARD_CALL Regression regression(std::int64_t r) const {
    const int F = settings.features;
    return {inverse + r * packed_size(F), moment + r * F, mean + r * F, draw + r * F, deviation + r * F, totals + r};
  }
};

// A block may take 48 KiB of shared memory without being asked.
template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  if (bytes <= std::size_t{48} << 10) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "last layers: shared memory");
}

// Doubles of scratch memory that factoring needs.
std::size_t factor_scratch(int F, std::size_t regressions);
// The three parts of a fit: sums of the first `seen` observations, a step of the precisions, and the posteriors with
// their draws, which are those of the stream of fit number `fits`.
void sum_history(const Group& group, const LastLayers& layers, int seen, cudaStream_t stream);
void step_evidence(const Group& group, const LastLayers& layers, cudaStream_t stream);
void fit_sums(const Group& group, const LastLayers& layers, std::uint32_t fits, cudaStream_t stream);

class CardLastLayers {
 public:
  CardLastLayers(const Settings& settings, int realizations, int rounds);

  static std::size_t bytes(const Settings& settings, std::size_t realizations, std::size_t rounds);

  const LastLayers& view() const { return view_; }
  const float* noise_precisions() const { return noise_precisions_.data(); }  // (G,M) for the next training

  // As before any observation.
  void start(const Group& group, cudaStream_t stream);
  // Sets the noise of the next training to the one found so far, where that is above the networks' own.
  void find_noise(const Group& group, cudaStream_t stream);
  // All of the first `seen` observations anew.
  void fit(const Group& group, int seen, cudaStream_t stream);
  // Rounds first .. last−1, one after the other; the observation of the last one is left to fit() where that follows.
  void play(const Group& group, const Choice& choice, int first, int last, bool fit_follows, cudaStream_t stream);
  // The observations of rounds first .. last−1, whose actions are known.
  void observe(const Group& group, int first, int last, cudaStream_t stream);

  std::vector<std::int32_t> singular() const { return singular_.to_host(); }
  std::vector<double> means() const { return mean_.to_host(); }
  std::vector<double> deviations() const { return deviation_.to_host(); }
  std::vector<double> precisions() const { return precision_.to_host(); }
  std::vector<RegressionTotals> totals() const { return totals_.to_host(); }

 private:
  void take_features(const Group& group, int first, int last, cudaStream_t stream);
  void observe_round(const Group& group, int t, int ahead, cudaStream_t stream);

  DeviceArray<double> inverse_, moment_, mean_, draw_, deviation_, precision_, scratch_;
  DeviceArray<RegressionTotals> totals_;
  DeviceArray<Determined> determined_;
  DeviceArray<std::int32_t> order_, start_, singular_;
  DeviceArray<float> features_, noise_precisions_;
  LastLayers view_;
  std::uint32_t fits_ = 0;
};

}  // namespace pits::cuda
