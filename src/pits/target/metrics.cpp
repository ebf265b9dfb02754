#include "pits/target/metrics.h"

#include <algorithm>
#include <cmath>

#include "pits/core/error.h"
#include "pits/core/simd/kernels.h"
#include "pits/flow/kernel.h"
#include "pits/target/assignment.h"

namespace pits {
namespace {

Matrix<double> distances(ConstMatrixView<double> a, ConstMatrixView<double> b) {
  Matrix<double> d2(a.rows(), b.rows());
  squared_distances(a, b, d2.view());
  return d2;
}

void check_comparable(const char* what, ConstMatrixView<double> a, ConstMatrixView<double> b) {
  if (a.rows() == 0 || b.rows() == 0) throw bad_input("{}: a cloud needs at least one point", what);
  if (a.cols() != b.cols()) throw bad_input("{}: clouds have dimensions {} and {}", what, a.cols(), b.cols());
}

// The cloud moved to mean 0 and scaled to mean square norm 1; a cloud of equal points becomes all zero.
Matrix<double> standardised(ConstMatrixView<double> a) {
  Matrix<double> out(a.rows(), a.cols());
  const auto n = static_cast<double>(a.rows());
  for (std::size_t j = 0; j < a.cols(); ++j) {
    double mean = 0.0;
    for (std::size_t i = 0; i < a.rows(); ++i) mean += a(i, j) / n;
    for (std::size_t i = 0; i < a.rows(); ++i) out(i, j) = a(i, j) - mean;
  }
  double square = 0.0;
  for (const double x : out.flat()) square += x * x / n;
  if (square == 0.0) return out;
  for (double& x : out.flat()) x /= std::sqrt(square);
  return out;
}

double mean_kernel(ConstMatrixView<double> d2, double h) {
  double sum = 0.0;
  for (const double d : d2.flat()) sum += std::exp(-d / h);
  return sum / static_cast<double>(d2.size());
}

}  // namespace

double w2(ConstMatrixView<double> a, ConstMatrixView<double> b) {
  check_comparable("w2", a, b);
  if (a.rows() != b.rows()) throw bad_input("w2: clouds must have the same size, not {} and {}", a.rows(), b.rows());
  // Σ_i ‖a_i − b_σ(i)‖² is least where Σ_i a_i·b_σ(i) is largest: the same σ after either cloud is moved or scaled.
  // Clouds of one place and size have many near pairs, which the assignment finds without a search.
  const std::vector<std::size_t> sigma = optimal_assignment(distances(standardised(a), standardised(b)));
  double sum = 0.0;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.cols(); ++j) {
      const double r = a(i, j) - b(sigma[i], j);
      sum += r * r;
    }
  }
  return std::sqrt(sum / static_cast<double>(a.rows()));
}

Mmd::Mmd(Matrix<double> sample) : sample_(std::move(sample)) {
  const Matrix<double> d2 = distances(sample_, sample_);
  h_ = median(d2.view(), false);
  if (!(h_ > 0.0) || !std::isfinite(h_)) {
    throw bad_input("mmd: the median distance of the sample must be positive and finite, not {}", std::sqrt(h_));
  }
  self_ = mean_kernel(d2, h_);
}

double Mmd::operator()(ConstMatrixView<double> a) const {
  check_comparable("mmd", a, sample_);
  const double square = mean_kernel(distances(a, a), h_) + self_ - 2.0 * mean_kernel(distances(a, sample_), h_);
  return std::sqrt(std::max(square, 0.0));  // rounding alone can take it below 0
}

double mmd(ConstMatrixView<double> a, ConstMatrixView<double> b) {
  Matrix<double> sample(b.rows(), b.cols());
  std::ranges::copy(b.flat(), sample.data());
  return Mmd(std::move(sample))(a);
}

double ksd(ConstMatrixView<double> theta, ConstMatrixView<double> score) {
  check_comparable("ksd", theta, score);
  if (theta.rows() != score.rows()) throw bad_input("ksd: {} points have {} scores", theta.rows(), score.rows());
  const std::size_t n = theta.rows();
  const auto d = static_cast<double>(theta.cols());
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double square = 0.0, scores = 0.0, along = 0.0;  // ‖r‖², s_i·s_j, (s_i − s_j)·r with r = θ_i − θ_j
      for (std::size_t l = 0; l < theta.cols(); ++l) {
        const double r = theta(i, l) - theta(j, l);
        square += r * r;
        scores += score(i, l) * score(j, l);
        along += (score(i, l) - score(j, l)) * r;
      }
      // k = u^{−1/2}, ∇_x k = −u^{−3/2} r = −∇_y k, tr ∇_x∇_y k = d u^{−3/2} − 3‖r‖² u^{−5/2}
      const double u = 1.0 + square;
      const double k = 1.0 / std::sqrt(u);
      sum += k * (scores + (along + d) / u - 3.0 * square / (u * u));
    }
  }
  return std::sqrt(std::max(sum, 0.0)) / static_cast<double>(n);
}

}  // namespace pits
