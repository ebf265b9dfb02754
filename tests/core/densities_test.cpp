#include "pits/core/simd/densities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "pits/core/simd/kernels.h"

namespace pits {
namespace {

class DensitiesOnTarget : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(""); }
};

double plain_density(const PieceLaw& law, double v) {
  const double t = (v - law.mean) / law.scale;
  if (law.freedom == 0.0) return law.factor * std::exp(-0.5 * t * t);
  return law.factor * std::pow(1.0 + t * t / law.freedom, -0.5 * (law.freedom + 1.0));
}

// A rule of any numbers: the loops do not depend on it.
TEST_P(DensitiesOnTarget, AreThePlainLoops) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (int i = 0; i < 2000; ++i) {
    PieceRule rule{};
    for (double& x : rule.x) x = uniform(random);
    for (PieceRow& row : rule.above) std::ranges::generate(row, [&] { return 0.1 * uniform(random); });
    const double freedoms[] = {0.0, 0.25, 1.0, 7.5, 300.0, 1e5};
    const PieceLaw law{.mean = 10.0 * normal(random),
                       .scale = std::exp(3.0 * normal(random)),
                       .freedom = freedoms[i % 6],
                       .factor = std::exp(normal(random)),
                       .tail = 0.5 + 0.5 * uniform(random)};
    const double centre = law.mean + 4.0 * law.scale * normal(random), half = law.scale * std::abs(normal(random));
    PieceRow f{}, F{};
    find_densities(law, centre, half, rule, f, F);
    for (std::size_t j = 0; j < piece_nodes; ++j) {
      const double expected = half * plain_density(law, centre + half * rule.x[j]);
      EXPECT_NEAR(f[j], expected, 1e-10 * expected + 1e-300) << law.freedom;
      double below = 1.0 - law.tail;
      for (std::size_t k = 0; k < piece_nodes; ++k) below -= rule.above[k][j] * f[k];
      EXPECT_NEAR(F[j], std::max(below, 0.0), 1e-12 * (1.0 + half * law.factor));
    }
  }
}

// Far out, where the density is below the smallest number or its logarithm overflows, it is 0.
TEST_P(DensitiesOnTarget, FarOutAreZero) {
  PieceRow f{}, F{};
  find_densities({.freedom = 0.0, .factor = 0.4, .tail = 0.25}, 1e10, 1.0, {}, f, F);
  for (const double value : f) EXPECT_EQ(value, 0.0);
  for (const double value : F) EXPECT_EQ(value, 0.75);
}

INSTANTIATE_TEST_SUITE_P(Simd, DensitiesOnTarget, testing::ValuesIn(simd_targets()),
                         [](const auto& target) { return target.param; });

}  // namespace
}  // namespace pits
