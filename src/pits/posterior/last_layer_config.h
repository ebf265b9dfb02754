// Settings of exact last layers (last_layers.h), and the priors of their coefficients. Plain, so that the GPU's code
// includes the same ones.
#pragma once

#include <vector>

#include "pits/core/enum_names.h"
#include "pits/posterior/coefficient_group.h"

namespace pits {

class Fields;
class Network;

enum class LastLayerKind { trained, exact, mixture };
template <>
inline constexpr auto enum_names<LastLayerKind> = std::array{"trained", "exact", "mixture"};

// A draw from the regressions: one per particle, held between trainings, so that probabilities of actions are shares of
// particles; or a fresh one per decision.
enum class HeadDraws { held, per_decision };
template <>
inline constexpr auto enum_names<HeadDraws> = std::array{"held", "per-decision"};

struct LastLayerConfig {
  LastLayerKind kind = LastLayerKind::trained;
  HeadDraws draws = HeadDraws::held;
  int held_draws = 20;            // mixture: S, draws of each model
  double posterior_scale = 0.25;  // κ: how far held draws lie from the mean, in posterior standard deviations
  double mean_shrinkage = 1.0;    // ρ: share of a particle's difference from the mean of all that is kept
  double scale_prior = 4.0;       // how large unseen rewards may be, in sizes of those seen, while they vary little
  double noise_shape = 2.0;       // a0, b0 of the inverse-gamma prior of the noise variance
  double noise_scale = 0.3;
  bool evidence = true;            // prior precisions by the evidence; else regression_lambda for all coefficients
  double regression_lambda = 1.0;  // in units of the noise
  int linear_inputs = 64;          // contexts of at most this many numbers are features too
  bool intercept = true;           // 1 is a feature
  bool optimistic = false;         // draws below the mean count as the mean (May et al. 2012)
  bool train_noise = false;        // networks are trained with the noise found here where it is above their own
};
Fields fields(LastLayerConfig& config);

// Where the prior precision of a group of coefficients starts, and the bounds of the evidence.
struct PrecisionBounds {
  double low, high, start;
};

// What no setting changes; docs/regret.md has the reasons.
struct LastLayerConstants {
  // Predicted means are clamped to the observed reward range plus this share of it, so that linear extrapolation cannot
  // rule out an untried action.
  static constexpr double margin = 0.1;
  // While the range of the rewards is below their root mean square, their scale is uncertain: the draws' variance grows
  // by (scale_prior · (rms − range))², at most max_scale_sd standard deviations of the rewards. It falls with an
  // action's pulls n as 1/(1 + n/(2 scale_prior_pairs)).
  static constexpr double scale_prior_pairs = 1.0;
  static constexpr double max_scale_sd = 32.0;
  // An action with noisier rewards than the others has a noise variance of its own, which starts at the shared one as
  // if this many pairs of observations had shown it. A quieter action keeps the shared variance: one that has always
  // paid the same would soon seem certain otherwise.
  static constexpr double own_noise_pairs = 2.0;
  static constexpr PrecisionBounds unit_precision{0.125, 512.0, 1.0};      // hidden units, and the intercept
  static constexpr PrecisionBounds input_precision{2.5e-4, 4096.0, 16.0};  // contexts
};

// Whether contexts are features of a network's last layer.
bool inputs_are_features(const LastLayerConfig& config, const Network& network);
// The features that share a prior precision, and where it starts: hidden units, contexts where they are features, 1.
std::vector<CoefficientGroup> coefficient_groups(const LastLayerConfig& config, const Network& network);

}  // namespace pits
