// From squared distances to the weights of a velocity
//   v_i = Σ_j [ a_ij G_j + p_ij (θ_i − θ_j) + q_ij (θ_i − θ′_j) ],
// the forms of flow/svgd.cpp, blob.cpp, gfsd.cpp and transport.cpp.
#pragma once

#include <cfloat>

#include "pits/cuda/settings.h"

namespace pits::cuda {

// h of the kernel e^{−d²/h} and 2/h; both 0 where only equal particles are neighbours.
struct Bandwidth {
  double h;
  float slope;
};

// `median` is that of the squared distances by the scale's rule.
__device__ inline Bandwidth bandwidth_of(const CardScale& scale, double median, int particles) {
  double h = scale.rule == CardScaleRule::fixed ? scale.value : median / log(particles + 1.0);
  if (2.0 / h > static_cast<double>(FLT_MAX)) h = 0.0;
  return {h, h > 0.0 ? static_cast<float>(2.0 / h) : 0.0F};
}

__device__ inline float kernel_at(const Bandwidth& bandwidth, double d2) {
  if (bandwidth.h > 0.0) return static_cast<float>(exp(-d2 / bandwidth.h));
  return d2 == 0.0 ? 1.0F : 0.0F;
}

// a_ij of SVGD with the neighbours' scores; with its own, the sum over j stands on the diagonal. Else the identity.
__device__ inline bool smooths_scores(const FlowSettings& f) {
  return f.kind == CardFlow::svgd || f.kind == CardFlow::dgf_released || (f.kind == CardFlow::dgf && !f.blob_drive);
}

// p_ij, from k_ij and the row sums S.
__device__ inline float repulsion(const FlowSettings& f, float slope, int particles, float k, float sum_i,
                                  float sum_j) {
  const float strength = static_cast<float>(f.entropy) * slope;
  if (f.kind == CardFlow::dgf_released) return 0.0F;
  if (smooths_scores(f)) return strength * (1.0F / static_cast<float>(particles)) * k;
  if (f.kind == CardFlow::gfsd) return strength * k / sum_i;
  return strength * k * (1.0F / sum_i + 1.0F / sum_j);
}

// q_ij, from the cost c_ij = ‖θ_i − θ′_j‖² and its median by the scale's rule.
__device__ inline float transport(const FlowSettings& f, double cost, double median, int particles) {
  constexpr double farthest = 2000.0;  // beyond, e^{−ratio} is 0 in double
  if (f.kind == CardFlow::dgf_released) {
    const double s2 = median / (2.0 * log(particles + 1.0));
    if (!(s2 > 0.0)) return 0.0F;
    const double ratio = fmin(cost / s2, farthest);
    return static_cast<float>(0.5 / particles * exp(-0.5 * ratio) * (1.0 - ratio));
  }
  const double lambda = f.lambda.rule == CardScaleRule::fixed ? f.lambda.value : median;
  if (!(lambda > 0.0)) return 0.0F;
  const double ratio = fmin(cost / lambda, farthest);
  return static_cast<float>(-f.gamma / particles * (ratio - 1.0) * exp(-ratio));
}

// Whose median the transport needs: the released code takes that of all pairs.
__host__ __device__ inline CardScaleRule transport_rule(const FlowSettings& f) {
  return f.kind == CardFlow::dgf_released ? CardScaleRule::median : f.lambda.rule;
}

}  // namespace pits::cuda
