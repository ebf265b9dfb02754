#include "pits/model/kernels/activation.h"

#include <cmath>
#include <limits>
#include <vector>

#include "model/simd_fixture.h"

namespace pits::test {
namespace {

class ActivationOnTarget : public OnEverySimdTarget {};

// Lengths around the lanes of every target; one guard number on each side must survive.
template <class Check>
void for_every_length(Check check) {
  for (std::size_t n = 0; n <= 40; ++n) {
    std::vector<float> z(n + 2, 77.0F);
    for (std::size_t i = 0; i < n; ++i) z[i + 1] = 0.37F * static_cast<float>(i) - 5.0F;
    check(z, n);
    EXPECT_EQ(z.front(), 77.0F) << n;
    EXPECT_EQ(z.back(), 77.0F) << n;
  }
}

TEST_P(ActivationOnTarget, ReluIsThePositivePart) {
  for_every_length([](std::vector<float>& z, std::size_t n) {
    const std::vector<float> before = z;
    activate(Activation::relu, std::span(z).subspan(1, n));
    for (std::size_t i = 1; i <= n; ++i) EXPECT_EQ(z[i], before[i] > 0.0F ? before[i] : 0.0F);
  });
}

// Highway documents 4 units in the last place for Tanh; near 0 that is relative to the value.
TEST_P(ActivationOnTarget, TanhAgreesWithTheStandardLibrary) {
  for_every_length([](std::vector<float>& z, std::size_t n) {
    const std::vector<float> before = z;
    activate(Activation::tanh, std::span(z).subspan(1, n));
    for (std::size_t i = 1; i <= n; ++i) {
      const double expected = std::tanh(static_cast<double>(before[i]));
      EXPECT_NEAR(z[i], expected, 5 * 6e-8 * std::abs(expected) + 1e-30);
    }
  });
}

TEST_P(ActivationOnTarget, TailsAreFlatAndFinite) {
  const float huge = std::numeric_limits<float>::max();
  std::vector<float> z = {-huge, -1e4F, -40.0F, 40.0F, 1e4F, huge};
  activate(Activation::tanh, z);
  for (std::size_t i = 0; i < z.size(); ++i) EXPECT_EQ(z[i], i < 3 ? -1.0F : 1.0F);
  std::vector<float> delta(z.size(), 3.0F);
  multiply_by_slope(Activation::tanh, z, delta);
  for (const float d : delta) EXPECT_EQ(d, 0.0F);
  std::vector<float> r = {-huge, -1e-30F, 0.0F, 1e-30F, huge};
  activate(Activation::relu, r);
  EXPECT_EQ(r, (std::vector<float>{0.0F, 0.0F, 0.0F, 1e-30F, huge}));
}

TEST_P(ActivationOnTarget, SlopesAreTheDerivativesAtTheValue) {
  for (const Activation f : {Activation::relu, Activation::tanh}) {
    for_every_length([f](std::vector<float>& delta, std::size_t n) {
      std::vector<float> a(n);
      for (std::size_t i = 0; i < n; ++i) a[i] = std::tanh(0.2F * static_cast<float>(i) - 3.0F);
      if (f == Activation::relu) activate(f, a);
      const std::vector<float> before = delta;
      multiply_by_slope(f, a, std::span(delta).subspan(1, n));
      for (std::size_t i = 0; i < n; ++i) {
        const double slope = f == Activation::relu ? (a[i] > 0.0F ? 1.0 : 0.0) : 1.0 - double{a[i]} * double{a[i]};
        EXPECT_NEAR(delta[i + 1], slope * before[i + 1], 3e-7 * std::abs(before[i + 1]));
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, ActivationOnTarget, testing::ValuesIn(simd_targets()), target_name);

}  // namespace
}  // namespace pits::test
