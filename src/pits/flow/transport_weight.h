// The weights of θ_i − θ′_j in DGF's transport, for the CPU and the GPU. `cost` is ‖θ_i − θ′_j‖², M the number of
// particles.
#pragma once

#include <cmath>

#include "pits/core/host_device.h"

namespace pits {

// Where e^{−ratio/2} is 0 in double: a larger ratio, or an infinite one, would give 0 · ∞.
constexpr double largest_cost_ratio = 2000.0;

PITS_HOST_DEVICE inline double cost_ratio(double cost, double scale) {
  const double ratio = cost / scale;
  return largest_cost_ratio < ratio ? largest_cost_ratio : ratio;
}

// Eq. 6 with u_i v_j = γ, over λ > 0.
PITS_HOST_DEVICE inline double transport_weight(double cost, double lambda, double gamma, double M) {
  const double ratio = cost_ratio(cost, lambda);
  return -gamma / M * (ratio - 1.0) * exp(-ratio);
}

// The released code's, with s² = median(c)/(2 log(M+1)) > 0.
PITS_HOST_DEVICE inline double released_scale(double median, double M) { return median / (2.0 * log(M + 1.0)); }
PITS_HOST_DEVICE inline double released_transport_weight(double cost, double s2, double M) {
  const double ratio = cost_ratio(cost, s2);
  return 0.5 / M * exp(-0.5 * ratio) * (1.0 - ratio);
}

}  // namespace pits
