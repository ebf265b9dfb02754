// The memory of a mixture on the GPU: a set of regressions for each network, and one of the linear model.
#pragma once

#include "pits/cuda/choice.cuh"
#include "pits/cuda/mixture/change.h"
#include "pits/cuda/mixture/draw_regression.h"

namespace pits::cuda {

// The features that a set has.
struct FeatureMap {
  LastLayerSettings settings;
  NetworkLayout network;  // of one layer, where the context itself is the features
};

// Of a realization.
struct MixtureState {
  double lead;           // log likelihood of the linear model over the networks', lately
  double linear_weight;  // follows from it
  double error;          // of what the mixture has predicted of the last reward
};

// All arrays are on the GPU. Regressions have the room of the widest features.
struct MixtureView {
  FeatureMap networks, linear;
  int sets;                        // M + 1: the linear model comes last
  int draws;                       // S of each set
  int width;                       // the most features of a set
  int tile;                        // observations of a tile, and rounds whose features are known ahead
  float* covariance;               // (G,sets,K,width²)
  float* mean;                     // (G,sets,K,width)
  float* deviation;                // (G,sets,K,S,width)
  double* sums;                    // (G,sets,K,width(width+1)/2)
  double* moment;                  // (G,sets,K,width)
  RegressionTotals* totals;        // (G,sets,K)
  EvidenceTerms* evidence_terms;   // (G,sets,K)
  double* precision;               // (G,sets,most_prior_groups)
  double* set_means;               // (G,sets,K) what a set expects of an action in the round at hand
  float* features;                 // (G,sets,tile,width) of the rounds to come
  MixtureState* state;             // (G)
  std::uint32_t* pulls;            // (G,K) rewards of an action
  const std::uint32_t* intervals;  // (T+1)
  TrainingState* training;         // (G)
  std::uint32_t* any_trains;       // (1) 1: a realization trains after the round at hand
  ChangeView change;               // where it is adaptive
  std::int32_t* order;             // (G,T) the rounds of the history, action by action
  std::int32_t* start;             // (G,K+1) where they begin
  std::int32_t* singular;          // (G) 1 where a regression was singular to working precision
  double* scratch;                 // a triangle for each block, where it does not fit into shared memory

  // Bytes of a tile of any set.
  PITS_HOST_DEVICE std::size_t tile_room() const {
    const std::size_t a = tile_bytes(networks.network, networks.settings.features, tile),
                      b = tile_bytes(linear.network, linear.settings.features, tile);
    return a < b ? b : a;
  }
  PITS_HOST_DEVICE bool is_linear(int set) const { return set == sets - 1; }
  PITS_HOST_DEVICE const FeatureMap& map(int set) const { return is_linear(set) ? linear : networks; }
  PITS_HOST_DEVICE std::int64_t number(int g, int set) const { return static_cast<std::int64_t>(g) * sets + set; }
  PITS_HOST_DEVICE DrawRegression regression(const GroupView& group, int g, int set, int action) const {
    const std::int64_t r = number(g, set) * group.actions + action, W = width;
    return {covariance + r * W * W,        mean + r * W,   deviation + r * draws * W,
            sums + r * packed_size(width), moment + r * W, totals + r};
  }
  PITS_HOST_DEVICE float* features_of(int g, int set, int ahead) const {
    return features + (number(g, set) * tile + ahead) * width;
  }
  PITS_HOST_DEVICE double* precision_of(int g, int set) const { return precision + number(g, set) * most_prior_groups; }
  PITS_HOST_DEVICE double weight(int g, int set) const {
    const double w = state[g].linear_weight;
    return is_linear(set) ? w : (1.0 - w) / (sets - 1);
  }
  // σ² of a set's regressions; each warp by itself.
  template <class Team>
  PITS_HOST_DEVICE double noise(const Team& team, const GroupView& group, int g, int set) const {
    return noise_variance(team, networks.settings, totals + number(g, set) * group.actions, group.actions);
  }
  // Each set has addresses of its own for the draws of a fit.
  PITS_HOST_DEVICE DrawNumbers numbers(const GroupView& group, int g, int set, int action) const {
    const Address address{
        .seed = group.seed,
        .realization = group.realization[g],
        .purpose = Purpose::last_layer,
        .step = training[g].trainings * static_cast<std::uint32_t>(sets) + static_cast<std::uint32_t>(set)};
    return {address, action, draws, map(set).settings.features};
  }
  // Whether a set is fitted anew in the training at hand.
  PITS_HOST_DEVICE bool fits(int g, int set) const {
    return training[g].trains != 0 && (!is_linear(set) || training[g].refreshes != 0);
  }
};

}  // namespace pits::cuda
