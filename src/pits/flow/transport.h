// The transport part F₂ of the discrete gradient flow (the paper's Eqs. 4 to 6): what keeps the cloud θ near the
// cloud θ′ that the step started from.
#pragma once

#include "pits/core/simd/kernels.h"
#include "pits/flow/sinkhorn.h"
#include "pits/flow/transport_weight.h"
#include "pits/flow/velocity.h"

namespace pits {

template <class T>
ConstMatrixView<T> transport_cost(const Cloud<T>& cloud, Workspace<T>& w) {
  const std::size_t M = cloud.theta.rows();
  w.cost.reshape(M, M);
  squared_distances(cloud.theta, cloud.previous, w.cost);
  return std::as_const(w.cost).view();
}

// weights = factor · M π, π the plan for cost(i,j).
template <class T>
void set_plan(ConstMatrixView<T> cost, double lambda, double factor, Matrix<T>& weights) {
  const std::size_t M = cost.rows();
  Matrix<double> c(M, M);
  for (std::size_t i = 0; i < M * M; ++i) c.data()[i] = cost.data()[i];
  const Matrix<double> plan = sinkhorn_plan(c, lambda);
  const double scale = factor * static_cast<double>(M);
  for (std::size_t i = 0; i < M * M; ++i) weights.data()[i] = static_cast<T>(scale * plan.data()[i]);
}

// Eq. 6, transport part, with constant multipliers u_i v_j = γ:
//   v_i −= (γ/M) Σ_j (c_ij/λ − 1) e^{−c_ij/λ} (θ_i − θ′_j),   c_ij = ‖θ_i − θ′_j‖².
// Pulled to an earlier particle farther than √λ, pushed off a nearer one.
template <class T>
void add_transport(const Cloud<T>& cloud, const Scale& scale, double gamma, Workspace<T>& w, Velocity<T>& v) {
  const ConstMatrixView<T> c = transport_cost(cloud, w);
  const double lambda = resolve(scale, c);
  if (lambda <= 0.0) return;  // the median is 0: in the limit λ → 0 no particle feels another
  const auto M = static_cast<double>(c.rows());
  Matrix<T>& weights = v.add_differences_to_previous(c.rows());
  for (std::size_t i = 0; i < c.size(); ++i) {
    weights.data()[i] = static_cast<T>(transport_weight(c.data()[i], lambda, gamma, M));
  }
}

// The released code's form: v_i += (1/2M) Σ_j e^{−c_ij/2s²} (1 − c_ij/s²) (θ_i − θ′_j), s² = median(c)/(2 log(M+1)).
template <class T>
void add_released_transport(const Cloud<T>& cloud, Workspace<T>& w, Velocity<T>& v) {
  const ConstMatrixView<T> c = transport_cost(cloud, w);
  const auto M = static_cast<double>(cloud.theta.rows());
  const double s2 = released_scale(median(c), M);
  if (s2 <= 0.0) return;
  Matrix<T>& weights = v.add_differences_to_previous(c.rows());
  for (std::size_t i = 0; i < c.size(); ++i) {
    weights.data()[i] = static_cast<T>(released_transport_weight(c.data()[i], s2, M));
  }
}

// v_i −= (1/τ) M Σ_j π_ij (θ_i − θ′_j) with the entropic plan π between the clouds, the adaptive multipliers that
// the paper names and skips. `debiased` subtracts the same term with the plan of θ to itself (Feydy et al. 2019).
// τ is the step of the JKO scheme, h in Eq. 4.
template <class T>
void add_sinkhorn_transport(const Cloud<T>& cloud, const Scale& scale, double tau, bool debiased, Workspace<T>& w,
                            Velocity<T>& v) {
  const ConstMatrixView<T> c = transport_cost(cloud, w);
  const double lambda = resolve(scale, c);
  if (lambda <= 0.0) return;
  set_plan<T>(c, lambda, -1.0 / tau, v.add_differences_to_previous(c.rows()));
  if (!debiased) return;
  const std::size_t M = cloud.theta.rows();
  w.cost.reshape(M, M);
  squared_distances(cloud.theta, cloud.theta, w.cost);
  set_plan<T>(w.cost, lambda, 1.0 / tau, v.add_differences(M));
}

}  // namespace pits
