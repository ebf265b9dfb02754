// Known densities for the flows to find: a Gaussian, and Bayesian linear regression, whose posterior is exact.
#pragma once

#include <Eigen/Dense>
#include <cmath>

#include "pits/core/matrix.h"
#include "pits/core/random.h"

namespace pits::test {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Eigen::Map<const RowMajor> eigen(const Matrix<double>& a) {
  return {a.data(), static_cast<Eigen::Index>(a.rows()), static_cast<Eigen::Index>(a.cols())};
}
inline Eigen::Map<RowMajor> eigen(Matrix<double>& a) {
  return {a.data(), static_cast<Eigen::Index>(a.rows()), static_cast<Eigen::Index>(a.cols())};
}

// (M,P) of mean_l + sd · N(0,1), from one address.
inline Matrix<double> normal_cloud(std::size_t M, std::size_t P, double sd, const Eigen::VectorXd& mean,
                                   std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::initial_particles});
  Matrix<double> theta(M, P);
  for (double& x : theta.flat()) x = sd * stream.normal();
  eigen(theta).rowwise() += mean.transpose();
  return theta;
}
inline Matrix<double> normal_cloud(std::size_t M, std::size_t P, double sd, std::uint64_t seed) {
  return normal_cloud(M, P, sd, Eigen::VectorXd::Zero(static_cast<Eigen::Index>(P)), seed);
}

struct Gaussian {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;

  // G_i = −Σ⁻¹(θ_i − m)
  Matrix<double> score(const Matrix<double>& theta) const {
    Matrix<double> g(theta.rows(), theta.cols());
    eigen(g) = -(eigen(theta).rowwise() - mean.transpose()) * covariance.inverse();
    return g;
  }
  // log p(θ_i), normalised.
  std::vector<double> log_density(const Matrix<double>& theta) const {
    const RowMajor centred = eigen(theta).rowwise() - mean.transpose();
    const Eigen::VectorXd square = (centred * covariance.inverse()).cwiseProduct(centred).rowwise().sum();
    const double log_volume = std::log((2.0 * M_PI * covariance).determinant());
    std::vector<double> log_p(theta.rows());
    for (std::size_t i = 0; i < log_p.size(); ++i)
      log_p[i] = -0.5 * (square[static_cast<Eigen::Index>(i)] + log_volume);
    return log_p;
  }
};

// y = Xθ + N(0, noise²), prior θ ~ N(0, prior²I).
struct LinearRegression {
  RowMajor x;  // (N,d)
  Eigen::VectorXd y;
  double noise = 1.0;
  double prior = 1.0;

  // ∇U from the data themselves, particle by particle; not through the posterior below.
  Matrix<double> score(const Matrix<double>& theta) const {
    Matrix<double> g(theta.rows(), theta.cols());
    const RowMajor residual = (-(eigen(theta) * x.transpose())).rowwise() + y.transpose();  // (M,N)
    eigen(g) = residual * x / (noise * noise) - eigen(theta) / (prior * prior);
    return g;
  }
  // Conjugate: Σ⁻¹ = XᵀX/σ² + I/s², m = ΣXᵀy/σ².
  Gaussian posterior() const {
    const Eigen::MatrixXd precision =
        x.transpose() * x / (noise * noise) + Eigen::MatrixXd::Identity(x.cols(), x.cols()) / (prior * prior);
    const Eigen::MatrixXd covariance = precision.inverse();
    return {.mean = covariance * (x.transpose() * y) / (noise * noise), .covariance = covariance};
  }
};

// Rows of the design from an AR(1) process with correlation 0.5; noise √N makes the posterior's sd about 1, so that
// every flow takes steps of order 1.
inline LinearRegression correlated_regression(int d, std::uint64_t seed) {
  const int N = 50;
  const double rho = 0.5;
  Stream stream({.seed = seed, .purpose = Purpose::environment_setup});
  LinearRegression problem{.x = RowMajor(N, d), .y = Eigen::VectorXd(N), .noise = std::sqrt(N), .prior = 3.0};
  Eigen::VectorXd truth(d);
  for (double& t : truth) t = stream.normal();
  for (int i = 0; i < N; ++i) {
    for (int l = 0; l < d; ++l) {
      const double fresh = stream.normal();
      problem.x(i, l) = l == 0 ? fresh : rho * problem.x(i, l - 1) + std::sqrt(1.0 - rho * rho) * fresh;
    }
    problem.y[i] = problem.x.row(i).dot(truth) + problem.noise * stream.normal();
  }
  return problem;
}

// A correlated 2-D Gaussian, variances 1.0 and 0.5.
inline Gaussian correlated_gaussian(double correlation = 0.3) {
  const double covariance = correlation * std::sqrt(1.0 * 0.5);
  return {.mean = Eigen::Vector2d::Zero(),
          .covariance = (Eigen::Matrix2d() << 1.0, covariance, covariance, 0.5).finished()};
}

}  // namespace pits::test
