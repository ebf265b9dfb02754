// Coefficients of a regression that share a prior. Plain, so that the GPU's code includes it.
#pragma once

#include <cstddef>

namespace pits {

// Consecutive coefficients with a common prior precision, in units of the noise.
struct CoefficientGroup {
  std::ptrdiff_t first, count;
  double precision;       // λ, changed by evidence_step
  double expected = 1.0;  // its prior value, with the weight of `weight` coefficients
  double weight = 2.0;
  double variance = 0.0;  // expected of the coefficients; 0: what `expected` says (feature_regressions.h)
  double low = 0.0, high = 0.0;  // it stays within

  template <class Archive>
  void state(Archive& archive) {
    archive(precision);
  }
};

}  // namespace pits
