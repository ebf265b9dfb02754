#include "pits/flow/energy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "flow/placed.h"
#include "flow/variants.h"
#include "pits/core/error.h"

namespace pits {
namespace {

TEST(FreeEnergy, OfTwoParticlesByHand) {
  // 1-D, θ = 0 and 1, h = 1: each density is ½ (1 + e^{−1})/√π.
  const Matrix<double> theta = test::matrix<double>({{0.0}, {1.0}});
  const std::vector<double> u = {-3.0, -5.0};
  Workspace<double> w;
  const double density = 0.5 * (1.0 + std::exp(-1.0)) / std::sqrt(std::numbers::pi);
  EXPECT_NEAR(free_energy<double>(theta, u, Scale::fixed(1.0), w), 4.0 + std::log(density), 1e-14);
}

TEST(FreeEnergy, FloatAgreesWithDouble) {
  const test::PlainCloud cloud = test::random_cloud(12, 5, 1);
  const std::vector<double> u(12, -1.5);
  const std::vector<float> u_float(12, -1.5F);
  Workspace<double> w;
  Workspace<float> w_float;
  EXPECT_NEAR(free_energy<float>(test::matrix<float>(cloud.theta), u_float, Scale{}, w_float),
              free_energy<double>(test::matrix<double>(cloud.theta), u, Scale{}, w), 1e-5);
}

// Blob is the gradient flow of this energy at a fixed bandwidth: v_i = −M ∂F/∂θ_i, here by central differences.
TEST(FreeEnergy, HasMinusBlobsVelocityOverMAsItsGradient) {
  const std::size_t M = 7;
  const std::size_t P = 3;
  test::PlainCloud cloud = test::random_cloud(M, P, 2);
  const Scale h = Scale::fixed(1.7);
  const auto energy = [&](const test::Rows& theta) {  // U = −½‖θ‖²
    std::vector<double> u(M);
    for (std::size_t i = 0; i < M; ++i) u[i] = -0.5 * test::squared_distance(theta[i], test::Row(P, 0.0));
    Workspace<double> w;
    return free_energy<double>(test::matrix<double>(theta), u, h, w);
  };
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t l = 0; l < P; ++l) cloud.score[i][l] = -cloud.theta[i][l];
  }
  const Matrix<double> v = test::velocity<double>({.kind = FlowKind::blob, .bandwidth = h}, cloud);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t l = 0; l < P; ++l) {
      test::Rows up = cloud.theta;
      test::Rows down = cloud.theta;
      up[i][l] += 1e-5;
      down[i][l] -= 1e-5;
      EXPECT_NEAR(v(i, l), -static_cast<double>(M) * (energy(up) - energy(down)) / 2e-5, 1e-8);
    }
  }
}

// F = KL(μ‖p) for a normalised p. Against N(0,1), KL of N(m, s²) is ½(m² + s² − 1) − log s.
TEST(FreeEnergy, IsTheDivergenceFromTheTarget) {
  for (const auto& [m, s] : {std::pair{0.0, 1.0}, {2.0, 1.0}, {0.0, 2.0}, {-1.0, 0.5}}) {
    const Matrix<double> theta = test::quantile_line(1000, m, s);
    Workspace<double> w;
    const std::vector<double> log_p = test::standard_gaussian(1).log_density(theta);
    const double f = free_energy<double>(theta, log_p, Scale::fixed(0.02 * s * s), w);
    EXPECT_NEAR(f, 0.5 * (m * m + s * s - 1.0) - std::log(s), 0.02) << "m = " << m << ", s = " << s;
  }
}

TEST(FreeEnergy, IsInfiniteWhereAllParticlesAreOne) {
  Workspace<double> w;
  const std::vector<double> u(3, 0.0);
  EXPECT_EQ(free_energy<double>(Matrix<double>(3, 2), u, Scale{}, w), INFINITY);
}

TEST(FreeEnergy, RefusesAWrongNumberOfLogDensities) {
  Workspace<double> w;
  const std::vector<double> u(2, 0.0);
  EXPECT_THROW(free_energy<double>(Matrix<double>(3, 2), u, Scale{}, w), Error);
  EXPECT_THROW(free_energy<double>(Matrix<double>(0, 2), {}, Scale{}, w), Error);
}

}  // namespace
}  // namespace pits
