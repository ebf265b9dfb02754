// Exact last layers on the GPU: for every realization, particle and action a regression of the rewards on the
// particle's features, and one draw from it (posterior/last_layers.h). Particles whose features are the same share the
// regressions: S sets of them in a realization, M or 1.
#pragma once

#include "pits/cuda/choice.cuh"
#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/last_layer/evidence.h"
#include "pits/cuda/last_layer/features.h"

namespace pits::cuda {

// A view; all arrays are on the GPU.
struct LastLayersView {
  LastLayerSettings settings;
  int actions;                    // K
  int particles;                  // M
  int sets;                       // S
  int tile;                       // observations of a tile, and rounds whose features are known ahead
  double* inverse;                // (G,S,K,F(F+1)/2)
  double *moment, *mean;          // (G,S,K,F)
  double *draw, *deviation;       // (G,M,K,F)
  RegressionTotals* totals;       // (G,S,K)
  EvidenceTerms* evidence_terms;  // (G,S,K)
  double* precision;              // (G,S,groups)
  double* set_means;              // (G,S,K) what a set expects of an action in the round at hand
  std::int32_t* order;            // (G,T) the rounds of the history, action by action
  std::int32_t* start;            // (G,K+1) where they begin
  float* features;                // (G,S,tile,F) of the rounds to come
  std::int32_t* singular;         // (G) 1 where a precision matrix was singular to working precision
  double* scratch;                // a triangle for each block, where it does not fit into shared memory

  // Sets and particles are numbered through all realizations.
  PITS_HOST_DEVICE int in_set() const { return particles / sets; }  // particles of a set
  PITS_HOST_DEVICE std::int64_t set_of(std::int64_t particle) const {
    return sets == particles ? particle : particle / particles;
  }
  PITS_HOST_DEVICE Regression regression(std::int64_t particle, int action) const {
    const std::int64_t r = set_of(particle) * actions + action, own = particle * actions + action;
    const int F = settings.features;
    return {inverse + r * packed_size(F), moment + r * F, mean + r * F, draw + own * F,
            deviation + own * F,          totals + r};
  }
  PITS_HOST_DEVICE float* features_of(std::int64_t set, int ahead) const {
    return features + (set * tile + ahead) * settings.features;
  }
  // Wᵀz of `count` particles of a set from `first` on, with its W.
  template <class Team>
  PITS_HOST_DEVICE void deviate_remaining(const Team& team, std::int64_t first, int count, int action,
                                          const double* W) const {
    const int F = settings.features;
    const std::int64_t at = (first * actions + action) * F;
    deviate(team, F, W, draw + at, deviation + at, count, static_cast<std::int64_t>(actions) * F);
  }
};

// The three parts of a fit: sums of what the history holds, a step of the precisions, and the posteriors with
// their draws, which are those of the stream of fit number `fits`.
void sum_history(const GroupView& group, const LastLayersView& layers, cudaStream_t stream);
void step_evidence(const GroupView& group, const LastLayersView& layers, cudaStream_t stream);
void fit_sums(const GroupView& group, const LastLayersView& layers, std::uint32_t fits, cudaStream_t stream);

class GpuLastLayers {
 public:
  GpuLastLayers(const Settings& settings, int realizations, int rounds);

  static std::size_t bytes(const Settings& settings, std::size_t realizations, std::size_t rounds);

  const LastLayersView& view() const { return view_; }
  const float* noise_precisions() const { return noise_precisions_.data(); }  // (G,M) for the next training

  // As before any observation.
  void start(const GroupView& group, cudaStream_t stream);
  // The noise of the next training is the one found so far, where that is above the networks' own: found in the units
  // of the last fit, used in those that were refreshed since. Before the first fit nothing is known of it.
  void find_noise(const GroupView& group, cudaStream_t stream);
  void use_noise(const GroupView& group, cudaStream_t stream);
  // All that the history holds anew.
  void fit(const GroupView& group, cudaStream_t stream);
  // Rounds first .. last−1, one after the other; the observation of the last one is left to fit() where that follows.
  void play(const GroupView& group, const DecisionSettings& choice, int first, int last, bool fit_follows,
            cudaStream_t stream);
  // The observations of rounds first .. last−1, whose actions are known.
  void observe(const GroupView& group, int first, int last, cudaStream_t stream);

  std::vector<std::int32_t> singular() const { return singular_.to_host(); }
  // For every particle.
  std::vector<double> means() const { return of_particles(mean_); }
  std::vector<double> deviations() const { return deviation_.to_host(); }
  std::vector<double> precisions() const { return of_particles(precision_); }
  std::vector<RegressionTotals> totals() const { return of_particles(totals_); }

 private:
  // From one row per set to one per particle.
  template <class T>
  std::vector<T> of_particles(const DeviceArray<T>& of_sets) const {
    const std::vector<T> host = of_sets.to_host();
    const std::size_t width = host.size() / sets_;
    std::vector<T> out;
    for (std::size_t i = 0; i < sets_ * static_cast<std::size_t>(view_.in_set()); ++i) {
      const auto row = host.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(view_.set_of(i)) * width);
      out.insert(out.end(), row, row + static_cast<std::ptrdiff_t>(width));
    }
    return out;
  }
  void take_features(const GroupView& group, int first, int last, cudaStream_t stream);
  void observe_round(const GroupView& group, int t, int ahead, cudaStream_t stream);

  DeviceArray<double> inverse_, moment_, mean_, draw_, deviation_, precision_, set_means_, noise_variances_, scratch_;
  DeviceArray<RegressionTotals> totals_;
  DeviceArray<EvidenceTerms> evidence_terms_;
  DeviceArray<std::int32_t> order_, start_, singular_;
  DeviceArray<float> features_, noise_precisions_;
  LastLayersView view_;
  std::size_t sets_;  // of all realizations
  std::uint32_t fits_ = 0;
};

}  // namespace pits::cuda
