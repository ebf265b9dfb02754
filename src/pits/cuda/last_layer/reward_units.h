// What is known of the rewards, and the units that follow, as posterior/standardiser.h has them.
#pragma once

#include <cmath>

#include "pits/cuda/settings.h"

namespace pits::cuda {

// Mean and sum of squared deviations (Welford 1962).
struct Moments {
  double mean, squares;

  // Number `count` of them.
  PITS_HOST_DEVICE void observe(float x, double count) {
    const double before = x - mean;
    mean += before / count;
    squares += before * (x - mean);
  }
  PITS_HOST_DEVICE double variance(double count) const { return squares / count; }
};

// A column that has not varied yet keeps its own scale.
PITS_HOST_DEVICE inline double scale_of(double variance) { return variance > 0.0 ? sqrt(variance) : 1.0; }

struct RewardMoments {
  Moments moments;
  double low, high;

  PITS_HOST_DEVICE void observe(float reward, double count) {
    moments.observe(reward, count);
    low = count == 1.0 ? reward : fmin(low, static_cast<double>(reward));
    high = count == 1.0 ? reward : fmax(high, static_cast<double>(reward));
  }
};

// Rewards in the networks' units are (r − mean)/sd: 0 and 1 where they are left as they come. The rest is in the
// rewards' own units.
struct RewardUnits {
  double mean = 0.0, sd = 1.0;
  double low = 0.0, high = 0.0;  // the least and the largest so far
  double size = 0.0;             // root of the mean square
  double spread = 1.0;           // standard deviation
};

PITS_HOST_DEVICE inline float in_units(float reward, const RewardUnits& u) {
  return static_cast<float>((reward - u.mean) / u.sd);
}

PITS_HOST_DEVICE inline RewardUnits refreshed(const RewardMoments& r, double count, bool standardised) {
  const double mean = r.moments.mean, variance = r.moments.variance(count);
  RewardUnits u;
  u.mean = standardised ? mean : 0.0;
  u.sd = standardised ? scale_of(variance) : 1.0;
  u.low = r.low;
  u.high = r.high;
  u.size = sqrt(mean * mean + variance);
  u.spread = scale_of(variance);
  return u;
}

}  // namespace pits::cuda
