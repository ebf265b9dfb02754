#include "pits/flow/energy.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace pits {

template <class T>
double free_energy(ConstMatrixView<T> theta, std::span<const T> log_density, const Scale& bandwidth, Workspace<T>& w) {
  const std::size_t M = theta.rows();
  if (M == 0) throw bad_input("free_energy: needs at least one particle");
  if (log_density.size() != M) {
    throw bad_input("free_energy: {} log densities for {} particles", log_density.size(), M);
  }
  evaluate_kernel(theta, bandwidth, w.kernel);
  if (w.kernel.h <= 0.0) return std::numeric_limits<double>::infinity();
  double sum = 0.0;
  for (std::size_t i = 0; i < M; ++i) {
    sum += std::log(static_cast<double>(w.kernel.row_sum[i])) - static_cast<double>(log_density[i]);
  }
  const auto m = static_cast<double>(M);
  const double log_normaliser =
      std::log(m) + 0.5 * static_cast<double>(theta.cols()) * std::log(std::numbers::pi * w.kernel.h);
  return sum / m - log_normaliser;
}

template double free_energy<float>(ConstMatrixView<float>, std::span<const float>, const Scale&, Workspace<float>&);
template double free_energy<double>(ConstMatrixView<double>, std::span<const double>, const Scale&, Workspace<double>&);

}  // namespace pits
