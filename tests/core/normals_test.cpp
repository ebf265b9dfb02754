#include "pits/core/simd/normals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace pits {
namespace {

const Address address{.seed = 11, .realization = 2, .purpose = Purpose::target_sample, .step = 5};

std::vector<float> normals(std::size_t n, const Address& at = address) {
  std::vector<float> out(n);
  fill_normals(at, out);
  return out;
}

// Words of an address in order, 256 of them a chunk; the first half gives radii, the second angles.
TEST(Normals, AreBoxMullerOfTheAddressesWords) {
  const std::vector<float> out = normals(512);
  for (std::uint32_t i = 0; i < 512; ++i) {
    const std::uint32_t chunk = i / 256, pair = i % 128;
    const auto word = [&](std::uint32_t k) { return philox_block(address, (chunk * 256 + k) / 4)[k % 4]; };
    const auto uniform = [&](std::uint32_t k) { return ((word(k) >> 9) + 0.5) / 8388608.0; };
    const double radius = std::sqrt(-2.0 * std::log(uniform(pair)));
    const double angle = 2.0 * std::numbers::pi * (uniform(128 + pair) - 0.5);
    const double expected = radius * (i % 256 < 128 ? std::cos(angle) : std::sin(angle));
    // float has 24 bits, the angle is within ±π and the library's sine is good to some units in the last place; near
    // radius 0 the logarithm of 1 − 2⁻²⁴ keeps an absolute error of its rounding.
    EXPECT_NEAR(out[i], expected, 2e-5) << i;
  }
}

TEST(Normals, AShorterFillIsTheBeginningOfALongerOne) {
  const std::vector<float> all = normals(1000);
  for (const std::size_t n : {0U, 1U, 127U, 128U, 255U, 256U, 257U, 700U}) {
    const std::vector<float> some = normals(n);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(some[i], all[i]);
  }
}

TEST(Normals, OtherAddressesGiveOtherDraws) {
  Address other = address;
  other.step = 6;
  EXPECT_NE(normals(10), normals(10, other));
}

// Moments of N(0,1) 0, 1, 0, 3 within four standard errors: Var xᵏ = E x²ᵏ − (E xᵏ)² is 1, 2, 15, 96.
TEST(Normals, HaveTheMomentsOfTheNormalDistribution) {
  constexpr std::size_t n = 400000;
  const std::vector<float> x = normals(n);
  const double expected[] = {0, 1, 0, 3};
  const double variance[] = {1, 2, 15, 96};
  for (int k = 1; k <= 4; ++k) {
    double sum = 0.0;
    for (const float v : x) sum += std::pow(static_cast<double>(v), k);
    EXPECT_NEAR(sum / n, expected[k - 1], 4.0 * std::sqrt(variance[k - 1] / n)) << k;
  }
}

// Draw i against draw i + lag, where pairs share a radius (128), a vector (1) or a chunk (256).
TEST(Normals, AreNotCorrelated) {
  constexpr std::size_t n = 200000;
  const std::vector<float> x = normals(n);
  for (const std::size_t lag : {1U, 4U, 8U, 128U, 256U}) {
    double sum = 0.0;
    for (std::size_t i = 0; i + lag < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i + lag]);
    EXPECT_NEAR(sum / n, 0.0, 4.0 / std::sqrt(n)) << lag;
  }
}

}  // namespace
}  // namespace pits
