// The numbers by which a change of the world is found (forgetting.h). Plain, so that the GPU's code includes it.
#pragma once

#include <cmath>
#include <cstdint>

#include "pits/core/host_device.h"

namespace pits {

// Memories of the regressions, in observations; the first forgets nothing.
struct ForgettingConstants {
  static constexpr double longest = 800.0;  // then 200 and 50
  static constexpr double ratio = 4.0;
  static constexpr double score_memory = 500.0;         // observations that the scores remember
  static constexpr double error_memory = 200.0;         // and the error that they are measured by
  static constexpr double margin = 10.0;                // log likelihood by which a short memory must be better
  static constexpr double largest_gain = 4.0;           // of a score by one observation
  static constexpr double prior = 8.0;                  // precision of the regressions' coefficients
  static constexpr double least_factor = 0.05;          // a discount below this starts a regression anew
  static constexpr int memories = 4, families = 2;      // of the action alone, and linear in the context
  static constexpr int trackers = memories * families;  // of an action
  static constexpr int most_inputs = 20;                // of longer contexts as many random projections
};

PITS_HOST_DEVICE inline double remembered_by(int memory) {
  return ForgettingConstants::longest / pow(ForgettingConstants::ratio, memory - 1.0);
}
PITS_HOST_DEVICE inline double discount_of(int memory) { return memory == 0 ? 1.0 : 1.0 - 1.0 / remembered_by(memory); }

// The mean squared error that scores are measured by, after one more error.
PITS_HOST_DEVICE inline double next_error(double mean, double error) {
  return fmax(1e-6, mean + (fmin(error * error, 100.0 * mean) - mean) / ForgettingConstants::error_memory);
}

// Log of how much better than zero a regression predicted, after an error of which it leaves `residual`.
PITS_HOST_DEVICE inline double next_score(double score, double error, double residual, double unit) {
  using C = ForgettingConstants;
  const double gain = 0.5 * (error * error - residual * residual) / unit;
  return (1.0 - 1.0 / C::score_memory) * score + fmin(fmax(gain, -C::largest_gain), C::largest_gain);
}

// How many of the last observations are worth keeping, where the scores (trackers) show a change; else 0. Errors that
// were there all the time are no change: a memory without end predicts those too.
PITS_HOST_DEVICE inline std::uint64_t kept_after_change(const double* scores) {
  using C = ForgettingConstants;
  double lasting = 0.0;
  for (int i = 0; i < C::trackers; i += C::memories) lasting = fmax(lasting, scores[i]);
  int best = 0;
  for (int i = 1; i < C::trackers; ++i) best = scores[i] > scores[best] ? i : best;
  if (best % C::memories == 0 || scores[best] < lasting + C::margin) return 0;
  return static_cast<std::uint64_t>(remembered_by(best % C::memories));
}

}  // namespace pits
