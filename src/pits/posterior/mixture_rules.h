// How the models of a mixture are weighed, and how widely it explores. Plain, so that the GPU's code includes it.
#pragma once

#include <cmath>

#include "pits/core/host_device.h"
#include "pits/posterior/last_layer_config.h"

namespace pits {

// What no setting changes; docs/regret.md has the reasons.
struct MixtureConstants {
  // Rewards that the scores of the models remember: half of those seen, so that what a model missed when it knew little
  // is forgotten, and so many that rare ones count.
  static constexpr double least_memory = 100.0, score_memory = 10'000.0;
  static constexpr double linear_handicap = 3.0;  // by how much, in log likelihood, the linear model must be better
  static constexpr double least_weight = 1e-3;    // models of less weight decide nothing
  static constexpr double largest_step = 30.0;    // of a score by one reward
  static constexpr double scale_pulls = 20.0;     // the scale prior ends after this many rewards of an action
  // Expected variance of the coefficients of contexts and units where rewards have variance 1. The precisions that
  // follow are high where rewards are noisy and low where they are not.
  static constexpr double coefficient_variance = 0.1;
  // Of the linear model's contexts, with the weight of one coefficient: it is the model that has to find out that
  // contexts tell nothing.
  static constexpr double linear_variance = 0.03, linear_variance_weight = 1.0;
  // Of the linear model's contexts. Its sums are in single precision: collinear columns need the lower bound.
  static constexpr PrecisionBounds linear_precision{0.125, 4096.0, 1.0};
};

PITS_HOST_DEVICE inline double clamped(double x, double low, double high) { return fmin(fmax(x, low), high); }

// Log likelihood of the linear model over the networks', lately, after one more reward that they missed by these
// errors, the last of `seen`. Squared errors in units of the noise: what decides is the mean reward, and squares are
// what scores a mean.
PITS_HOST_DEVICE inline double next_lead(double lead, double network_error, double linear_error, double noise_variance,
                                         double seen) {
  using C = MixtureConstants;
  const double difference = network_error * network_error - linear_error * linear_error;
  const double gain = clamped(0.5 * difference / noise_variance, -C::largest_step, C::largest_step);
  const double memory = clamped(0.5 * seen, C::least_memory, C::score_memory);
  return (1.0 - 1.0 / memory) * lead + gain;
}

// Weight of the linear model; the networks share the rest.
PITS_HOST_DEVICE inline double linear_weight(double lead) {
  using C = MixtureConstants;
  const double share = 1.0 / (1.0 + exp(C::linear_handicap - lead));
  return share < C::least_weight ? 0.0 : share > 1.0 - C::least_weight ? 1.0 : share;
}

// κσ of an action with this noise variance, of which n rewards are remembered and `ever` have come since the start. The
// scale prior of last layers (last_layer_config.h), but for an action's first rewards only: rewards far from 0 would
// pay for it for ever, or after every change anew.
PITS_HOST_DEVICE inline double mixture_draw_sd(double posterior_scale, double scale_sd, double n, double ever,
                                               double noise) {
  const bool hardly_tried = n < 2.0 && posterior_scale > 0.0;
  const double kappa = hardly_tried ? fmax(1.0, posterior_scale) : posterior_scale;
  const double faded = ever < MixtureConstants::scale_pulls ? scale_sd * scale_sd / (1.0 + 0.5 * ever) : 0.0;
  return kappa * sqrt(noise + faded);
}

// Whether units are found anew at a training. Where contexts are too long to be features of the networks (`inputs` is
// false) the linear regressions are costly: units stay until a quarter more has been seen, and they need no new fit
// till then. Where only the last `capacity` observations are kept (0: all), until a quarter of them is new.
template <class Count>
PITS_HOST_DEVICE bool units_are_due(bool inputs, Count seen, Count units_at, int capacity) {
  const bool replaced = capacity > 0 && 4 * (seen - units_at) >= static_cast<Count>(capacity);
  return inputs || replaced || 4 * seen >= 5 * units_at;
}

}  // namespace pits
