// Settings of exact last layers (last_layers.h), and the priors that they begin with.
#pragma once

#include "pits/model/network.h"
#include "pits/posterior/evidence.h"

namespace pits {

enum class LastLayerKind { trained, exact };
template <>
struct EnumNames<LastLayerKind> {
  static const std::vector<std::string>& names();
};

struct LastLayerConfig {
  LastLayerKind kind = LastLayerKind::trained;
  double exploration = 0.25;  // κ: how far draws lie from the mean, in posterior standard deviations
  double disagreement = 1.0;  // ρ: how far a particle's mean lies from that of all, of what its own network says
  double doubt = 4.0;         // of the rewards' scale while it is not known; 1: others may be as large as those seen
  double noise_shape = 2.0;   // a0, b0 of the inverse-gamma prior of the noise variance
  double noise_scale = 0.3;
  int linear_inputs = 64;    // contexts of at most this many numbers are features too
  bool optimistic = false;   // draws below the mean count as the mean (May et al. 2012)
  bool train_noise = false;  // networks are trained with the noise found here where it is above their own
};
Fields fields(LastLayerConfig& config);

// How means are kept within the rewards, and how spreads of draws are chosen.
struct LastLayerRules {
  static constexpr double margin = 0.1;  // of the rewards' range, by which means may leave it
  // Until rewards have differed by as much as they are large, their scale is not known: others may be of the size of
  // those seen. That doubt fades as an action is pulled, as the prior of a noise variance that weighs this many pairs
  // of observations would, and is at most so many of their standard deviations: rewards of 50 ± 1 are not a reason to
  // expect one of 0.
  static constexpr double doubt_weight = 1.0;
  static constexpr double most_doubt = 32.0;
  // An action whose rewards are noisier than the others' has a noise of its own, which starts from theirs as if this
  // many pairs of observations had shown it. A quieter one keeps the shared noise: an action that always pays the same
  // until now would otherwise soon be certain, and one that pays nothing whatever happens would make all others
  // certain.
  static constexpr double own_weight = 2.0;
};

// Whether contexts are features of a network's last layer.
bool inputs_are_features(const LastLayerConfig& config, const Network& network);
// The features that share a prior, and how it begins: hidden units, contexts where they are features, 1.
std::vector<CoefficientGroup> coefficient_groups(const LastLayerConfig& config, const Network& network);

}  // namespace pits
