// The normal-inverse-gamma posterior from scratch: one factorisation of all the data; and the sums it is made of.
#pragma once

#include <Eigen/Dense>

#include "pits/posterior/bayes_linear.h"

namespace pits::test {

struct Conjugate {
  Eigen::MatrixXd precision;  // XᵀX + λI
  Eigen::VectorXd mean;
  double a, b;
  double total;  // yᵀy, the scale of b's cancellation

  Conjugate(const BayesLinearConfig& c, const Eigen::MatrixXd& x, const Eigen::VectorXd& y)
      : precision(x.transpose() * x + c.lambda * Eigen::MatrixXd::Identity(x.cols(), x.cols())),
        mean(precision.ldlt().solve(x.transpose() * y)),
        a(c.a0 + 0.5 * static_cast<double>(x.rows())),
        b(c.b0 + 0.5 * (y.squaredNorm() - mean.dot(precision * mean))),
        total(y.squaredNorm()) {}

  // Of β: E[σ²] precision⁻¹.
  Eigen::MatrixXd covariance() const { return b / (a - 1.0) * precision.inverse(); }
};

// Adds observations one by one: columns of x, (d,n), y and weights, (n), or all weights 1.
inline void add_to(RegressionSums& sums, const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                   const Eigen::VectorXd& weights = {}) {
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    const double w = weights.size() == 0 ? 1.0 : weights[i];
    for (Eigen::Index j = 0; j < x.rows(); ++j) {
      for (Eigen::Index k = 0; k <= j; ++k) sums.xx(j, k) += w * x(j, i) * x(k, i);
      sums.xy[j] += w * x(j, i) * y[i];
    }
    sums.yy += w * y[i] * y[i];
    sums.n += w;
  }
}

}  // namespace pits::test
