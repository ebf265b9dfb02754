#include "pits/flow/transport.h"

#include <algorithm>
#include <cmath>

#include "pits/core/kernels.h"
#include "pits/flow/sinkhorn.h"

namespace pits {
namespace {

// Beyond this many squared lengths e^{−ratio} is 0 in double; a ratio of infinity would make it 0·∞.
constexpr double farthest = 2000.0;

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

}  // namespace

template <class T>
void add_transport(const Cloud<T>& cloud, const Scale& scale, double gamma, Workspace<T>& w, Velocity<T>& v) {
  const ConstMatrixView<T> c = transport_cost(cloud, w);
  const double lambda = resolve(scale, c);
  if (lambda <= 0.0) return;  // the median is 0: in the limit λ → 0 no particle feels another
  const double factor = gamma / static_cast<double>(c.rows());
  Matrix<T>& weights = v.add_differences_to_previous(c.rows());
  for (std::size_t i = 0; i < c.size(); ++i) {
    const double ratio = std::min(c.data()[i] / lambda, farthest);
    weights.data()[i] = static_cast<T>(-factor * (ratio - 1.0) * std::exp(-ratio));
  }
}

template <class T>
void add_released_transport(const Cloud<T>& cloud, Workspace<T>& w, Velocity<T>& v) {
  const ConstMatrixView<T> c = transport_cost(cloud, w);
  const auto M = static_cast<double>(cloud.theta.rows());
  const double s2 = median(c) / (2.0 * std::log(M + 1.0));
  if (s2 <= 0.0) return;
  Matrix<T>& weights = v.add_differences_to_previous(c.rows());
  for (std::size_t i = 0; i < c.size(); ++i) {
    const double ratio = std::min(c.data()[i] / s2, farthest);
    weights.data()[i] = static_cast<T>(0.5 / M * std::exp(-0.5 * ratio) * (1.0 - ratio));
  }
}

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

#define PITS_INSTANTIATE(T)                                                                           \
  template void add_transport<T>(const Cloud<T>&, const Scale&, double, Workspace<T>&, Velocity<T>&); \
  template void add_released_transport<T>(const Cloud<T>&, Workspace<T>&, Velocity<T>&);              \
  template void add_sinkhorn_transport<T>(const Cloud<T>&, const Scale&, double, bool, Workspace<T>&, Velocity<T>&);
PITS_INSTANTIATE(float)
PITS_INSTANTIATE(double)
#undef PITS_INSTANTIATE

}  // namespace pits
