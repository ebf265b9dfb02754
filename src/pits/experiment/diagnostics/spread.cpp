#include "pits/experiment/diagnostics/spread.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

namespace pits {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const RowMajor> as_eigen(ConstMatrixView<double> m) {
  return {m.flat().data(), static_cast<Eigen::Index>(m.rows()), static_cast<Eigen::Index>(m.cols())};
}

RowMajor centred(ConstMatrixView<double> predictions) {
  const auto p = as_eigen(predictions);
  return p.rowwise() - p.colwise().mean();
}

}  // namespace

double disagreement(ConstMatrixView<double> predictions, std::size_t actions) {
  const std::size_t M = predictions.rows(), contexts = predictions.cols() / actions;
  std::vector<double> votes(actions);
  double pairs = 0.0;  // ordered, of particles that agree
  for (std::size_t c = 0; c < contexts; ++c) {
    std::ranges::fill(votes, 0.0);
    for (std::size_t i = 0; i < M; ++i) {
      const std::span<const double> rewards = predictions.row(i).subspan(c * actions, actions);
      votes[static_cast<std::size_t>(std::ranges::max_element(rewards) - rewards.begin())] += 1.0;
    }
    for (const double v : votes) pairs += v * (v - 1.0);
  }
  return 1.0 - pairs / static_cast<double>(contexts * M * (M - 1));
}

double spread(ConstMatrixView<double> predictions) {
  const RowMajor off = centred(predictions);
  return std::sqrt(off.squaredNorm() / static_cast<double>(off.cols() * (off.rows() - 1)));
}

// Σλ and Σλ² are the trace and the squared norm of the Gram matrix, and of the smaller one on the other side.
double effective_particles(ConstMatrixView<double> predictions) {
  constexpr double rounding = 1e-6;
  const RowMajor off = centred(predictions);
  const double trace = off.squaredNorm();
  if (trace <= rounding * rounding * as_eigen(predictions).squaredNorm()) return 1.0;
  const bool wide = off.rows() <= off.cols();
  const double squares = wide ? (off * off.transpose()).squaredNorm() : (off.transpose() * off).squaredNorm();
  return 1.0 + trace * trace / squares;
}

}  // namespace pits
