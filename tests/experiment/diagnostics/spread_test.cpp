#include "pits/experiment/diagnostics/spread.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "pits/core/random.h"

namespace pits::test {
namespace {

Matrix<double> normals(std::size_t M, std::size_t n, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  Matrix<double> m(M, n);
  for (double& x : m.flat()) x = stream.normal();
  return m;
}

Matrix<double> copies(std::size_t M, std::size_t n, double jitter = 0.0) {
  const Matrix<double> one = normals(1, n, 1), noise = normals(M, n, 2);
  Matrix<double> m(M, n);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < n; ++j) m(i, j) = one(0, j) * (1.0 + jitter * noise(i, j));
  }
  return m;
}

TEST(Spread, CopiesAreOneParticle) {
  const Matrix<double> m = copies(7, 40);
  EXPECT_EQ(disagreement(m, 4), 0.0);
  EXPECT_LT(spread(m), 1e-15);
  EXPECT_EQ(effective_particles(m), 1.0);
  EXPECT_EQ(effective_particles(copies(7, 40, 1e-8)), 1.0) << "rounding is no difference";
  // Neither what all have in common nor the size of the differences matters.
  EXPECT_NEAR(effective_particles(copies(7, 40, 1e-3)), effective_particles(copies(7, 40, 1.0)), 1e-9);
}

// Three contexts of two actions: they agree on the first, disagree on the others.
TEST(Spread, OfTwoParticlesByHand) {
  Matrix<double> m(2, 6);
  std::ranges::copy(std::vector<double>{1.0, 0.0, 1.0, 0.0, 0.0, 2.0}, m.row(0).begin());
  std::ranges::copy(std::vector<double>{3.0, 0.0, 0.0, 1.0, 4.0, 2.0}, m.row(1).begin());
  EXPECT_DOUBLE_EQ(disagreement(m, 2), 2.0 / 3.0);
  // The variance of a and b is (a − b)²/2: (4 + 0 + 1 + 1 + 16 + 0)/2 over 6 columns.
  EXPECT_DOUBLE_EQ(spread(m), std::sqrt(11.0 / 6.0));
  EXPECT_DOUBLE_EQ(effective_particles(m), 2.0);
}

TEST(Spread, TwoClustersCountAsTwo) {
  const Matrix<double> two = normals(2, 30, 5);
  Matrix<double> m(9, 30);
  for (std::size_t i = 0; i < 9; ++i) std::ranges::copy(two.row(i < 3 ? 0 : 1), m.row(i).begin());
  EXPECT_NEAR(effective_particles(m), 2.0, 1e-12);
}

// Exactly M where all are at one distance from each other and from 0: the corners of a simplex.
TEST(Spread, ParticlesAtEqualDistancesAllCount) {
  for (const std::size_t M : {2U, 3U, 20U}) {
    Matrix<double> m(M, 2 * M);
    for (std::size_t i = 0; i < M; ++i) m(i, i) = 0.3;
    EXPECT_NEAR(effective_particles(m), static_cast<double>(M), 1e-9) << M;
  }
}

// Σλ² of m = M − 1 directions and n columns of independent normals is m n (m + n + 1) and (Σλ)² about m² n², so that
// their ratio falls short of m by m(m + 1)/n.
TEST(Spread, IndependentParticlesAllCount) {
  const std::size_t M = 20, n = 20000;
  EXPECT_NEAR(effective_particles(normals(M, n, 6)), 20.0 - 19.0 * 20.0 / static_cast<double>(n), 0.005);
}

TEST(Spread, EffectiveParticlesByEigenvalues) {
  for (const auto& [M, n] : {std::pair{5, 12}, {12, 5}}) {
    Matrix<double> m = normals(static_cast<std::size_t>(M), static_cast<std::size_t>(n), 8);
    for (std::size_t i = 0; i < m.rows(); ++i) {
      for (std::size_t j = 0; j < m.cols(); ++j) m(i, j) *= std::pow(2.0, static_cast<double>(j % 5));
    }
    Eigen::MatrixXd p(M, n);
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < n; ++j) p(i, j) = m(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    }
    const Eigen::MatrixXd off = p - Eigen::MatrixXd::Constant(M, M, 1.0 / M) * p;
    const Eigen::VectorXd lambda = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(off * off.transpose()).eigenvalues();
    EXPECT_NEAR(effective_particles(m), 1.0 + std::pow(lambda.sum(), 2) / lambda.squaredNorm(), 1e-9);
  }
}

TEST(Spread, DisagreementByAllPairs) {
  const std::size_t M = 6, K = 3, C = 11;
  const Matrix<double> m = normals(M, K * C, 9);
  double differ = 0.0, pairs = 0.0;
  for (std::size_t c = 0; c < C; ++c) {
    for (std::size_t i = 0; i < M; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto best = [&](std::size_t particle) {
          std::size_t a = 0;
          for (std::size_t b = 1; b < K; ++b) a = m(particle, c * K + b) > m(particle, c * K + a) ? b : a;
          return a;
        };
        differ += best(i) == best(j) ? 0.0 : 1.0;
        pairs += 1.0;
      }
    }
  }
  EXPECT_NEAR(disagreement(m, K), differ / pairs, 1e-12);
}

}  // namespace
}  // namespace pits::test
