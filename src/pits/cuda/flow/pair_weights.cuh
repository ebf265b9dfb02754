// From squared distances to the weights of a velocity
//   v_i = Σ_j [ a_ij G_j + p_ij (θ_i − θ_j) + q_ij (θ_i − θ′_j) ],
// the forms of flow/svgd.h, blob.h, gfsd.h and transport.h.
#pragma once

#include <cfloat>

#include "pits/cuda/settings.h"
#include "pits/flow/transport_weight.h"

namespace pits::cuda {

// h of the kernel e^{−d²/h} and 2/h; both 0 where only equal particles are neighbours.
struct Bandwidth {
  double h;
  float slope;
};

// `median` is that of the squared distances by the scale's rule.
__device__ inline Bandwidth bandwidth_of(const Scale& scale, double median, int particles) {
  double h = scale.rule == Scale::Rule::fixed ? scale.value : median / log(particles + 1.0);
  if (2.0 / h > static_cast<double>(FLT_MAX)) h = 0.0;
  return {h, h > 0.0 ? static_cast<float>(2.0 / h) : 0.0F};
}

__device__ inline float kernel_at(const Bandwidth& bandwidth, double d2) {
  if (bandwidth.h > 0.0) return static_cast<float>(exp(-d2 / bandwidth.h));
  return d2 == 0.0 ? 1.0F : 0.0F;
}

// a_ij of SVGD with the neighbours' scores; with its own, the sum over j stands on the diagonal. Else the identity.
PITS_HOST_DEVICE inline bool smooths_scores(const FlowConfig& f) {
  return f.kind == FlowKind::svgd || f.kind == FlowKind::dgf_released ||
         (f.kind == FlowKind::dgf && f.drive == Drive::svgd);
}

// p_ij, from k_ij and the row sums S.
__device__ inline float repulsion(const FlowConfig& f, float slope, int particles, float k, float sum_i, float sum_j) {
  const float strength = static_cast<float>(f.entropy) * slope;
  if (f.kind == FlowKind::dgf_released) return 0.0F;
  if (smooths_scores(f)) return strength * (1.0F / static_cast<float>(particles)) * k;
  if (f.kind == FlowKind::gfsd) return strength * k / sum_i;
  return strength * k * (1.0F / sum_i + 1.0F / sum_j);
}

// q_ij, from the cost c_ij = ‖θ_i − θ′_j‖² and its median by the scale's rule.
__device__ inline float transport(const FlowConfig& f, double cost, double median, int particles) {
  if (f.kind == FlowKind::dgf_released) {
    const double s2 = released_scale(median, particles);
    return s2 > 0.0 ? static_cast<float>(released_transport_weight(cost, s2, particles)) : 0.0F;
  }
  const double lambda = f.lambda.rule == Scale::Rule::fixed ? f.lambda.value : median;
  return lambda > 0.0 ? static_cast<float>(transport_weight(cost, lambda, f.gamma, particles)) : 0.0F;
}

// Whose median the transport needs: the released code takes that of all pairs.
PITS_HOST_DEVICE inline Scale::Rule transport_rule(const FlowConfig& f) {
  return f.kind == FlowKind::dgf_released ? Scale::Rule::median : f.lambda.rule;
}

}  // namespace pits::cuda
