// Useful floating-point operations: multiplications and additions that the mathematics asks for, whoever does them.
#pragma once

#include "pits/bench/cases.h"

namespace pits::bench {

// Score: forwards, d·h + h² for the hidden layers and h for the one output that was played; backwards, the same for the
// gradients and h² + h for what flows back; 2 operations each, B observations, M particles. A context of `ones` ones
// counts as so many numbers.
inline double score_operations(const Shape& s) {
  const double d = static_cast<double>(s.ones > 0 ? s.ones : s.d), h = hidden;
  return 2.0 * batch_size * static_cast<double>(s.M) * (2.0 * d * h + 3.0 * h * h + 3.0 * h);
}

inline double parameters(const Shape& s) {
  const double d = static_cast<double>(s.d), h = hidden, K = static_cast<double>(s.K);
  return (d + 1.0) * h + (h + 1.0) * h + (h + 1.0) * K;
}

// SVGD: the Gram matrix, of which one half is the other's mirror, and the kernel times scores and particles.
inline double velocity_operations(const Shape& s) {
  const double M = static_cast<double>(s.M);
  return (1.0 + 2.0 + 2.0) * M * M * parameters(s);
}

// Adam: 12 for every parameter, the root and the division counted as one each.
inline double optimizer_operations(const Shape& s) { return 12.0 * static_cast<double>(s.M) * parameters(s); }

inline double step_operations(const Shape& s) {
  return score_operations(s) + velocity_operations(s) + optimizer_operations(s);
}

// One particle, all K outputs.
inline double decision_operations(const Shape& s) {
  return 2.0 * (static_cast<double>(s.d) * hidden + hidden * hidden + hidden * static_cast<double>(s.K));
}

}  // namespace pits::bench
