// Clouds placed by quantiles rather than drawn, so that their moments carry no sampling noise.
#pragma once

#include <cmath>
#include <numbers>

#include "flow/targets.h"

namespace pits::test {

inline Gaussian standard_gaussian(Eigen::Index d) {
  return {.mean = Eigen::VectorXd::Zero(d), .covariance = Eigen::MatrixXd::Identity(d, d)};
}

// x with Φ(x) = u, by bisection.
inline double normal_quantile(double u) {
  double low = -10.0;
  double high = 10.0;
  for (int k = 0; k < 80; ++k) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < u ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// Mean and marginal variances made exact: θ ← mean + sd (θ − mean of θ)/(sd of θ), coordinate by coordinate.
inline void standardise(Matrix<double>& theta, double mean, double sd) {
  auto block = eigen(theta);
  for (Eigen::Index l = 0; l < block.cols(); ++l) {
    const double centre = block.col(l).mean();
    block.col(l).array() -= centre;
    const double spread = std::sqrt(block.col(l).squaredNorm() / static_cast<double>(block.rows()));
    block.col(l) = (block.col(l) * (sd / spread)).array() + mean;
  }
}

// (M,1): the quantiles (i + ½)/M of N(mean, sd²).
inline Matrix<double> quantile_line(std::size_t M, double mean, double sd) {
  Matrix<double> theta(M, 1);
  for (std::size_t i = 0; i < M; ++i)
    theta(i, 0) = normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(M));
  standardise(theta, mean, sd);
  return theta;
}

// (M,2): radii at the quantiles of the Rayleigh distribution, angles turned by the golden angle (Vogel's spiral).
inline Matrix<double> quantile_spiral(std::size_t M, double mean, double sd) {
  const double golden = std::numbers::pi * (3.0 - std::sqrt(5.0));
  Matrix<double> theta(M, 2);
  for (std::size_t i = 0; i < M; ++i) {
    const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(M);
    const double radius = std::sqrt(-2.0 * std::log1p(-u));
    theta(i, 0) = radius * std::cos(golden * static_cast<double>(i));
    theta(i, 1) = radius * std::sin(golden * static_cast<double>(i));
  }
  standardise(theta, mean, sd);
  return theta;
}

}  // namespace pits::test
