#include "pits/flow/sinkhorn.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pits/core/error.h"

namespace pits {
namespace {

// log Σ_l exp(x_l)
double log_sum_exp(const std::vector<double>& x) {
  const double top = *std::ranges::max_element(x);
  double sum = 0.0;
  for (const double value : x) sum += std::exp(value - top);
  return top + std::log(sum);
}

// f_i = −λ log (1/M) Σ_j exp((g_j − c_ij)/λ), all in units of λ; `by_row` false sweeps columns instead.
// Returns the largest change of f, which is the relative error of the marginal that f repairs.
double sweep(ConstMatrixView<double> cost, double lambda, bool by_row, const std::vector<double>& g,
             std::vector<double>& f) {
  const std::size_t M = cost.rows();
  const double log_mass = std::log(static_cast<double>(M));
  std::vector<double> terms(M);
  double change = 0.0;
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) terms[j] = g[j] - (by_row ? cost(i, j) : cost(j, i)) / lambda;
    const double updated = log_mass - log_sum_exp(terms);
    change = std::max(change, std::abs(updated - f[i]));
    f[i] = updated;
  }
  return change;
}

}  // namespace

Matrix<double> sinkhorn_plan(ConstMatrixView<double> cost, double lambda, const SinkhornOptions& options) {
  if (!(lambda > 0.0)) throw bad_input("sinkhorn: lambda must be above 0, not {}", lambda);
  const std::size_t M = cost.rows();
  std::vector<double> f(M, 0.0);
  std::vector<double> g(M, 0.0);
  double error = 0.0;
  int iteration = 0;
  do {
    error = sweep(cost, lambda, true, g, f);
    sweep(cost, lambda, false, f, g);
  } while (error > options.tolerance && ++iteration < options.max_iterations);
  if (error > options.tolerance) {
    throw failed(
        "sinkhorn: marginals still off by {:.1e} after {} iterations; a larger lambda than {} converges sooner", error,
        options.max_iterations, lambda);
  }
  Matrix<double> plan(M, M);
  const double mass = 1.0 / static_cast<double>(M * M);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) plan(i, j) = mass * std::exp(f[i] + g[j] - cost(i, j) / lambda);
  }
  return plan;
}

}  // namespace pits
