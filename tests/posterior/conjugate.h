// The normal-inverse-gamma posterior from scratch: one factorisation of all the data.
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

}  // namespace pits::test
