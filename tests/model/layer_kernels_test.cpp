// The layers of a minibatch on every SIMD target, against plain loops in double.
#include "pits/model/kernels/layer_kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/simd_fixture.h"
#include "pits/core/error.h"
#include "pits/core/random.h"

namespace pits::test {
namespace {

PaddedMatrix<float> random_matrix(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  PaddedMatrix<float> m(rows, cols);
  for (std::size_t i = 0; i < rows; ++i) {
    for (float& x : m.row(i)) x = static_cast<float>(stream.normal());
  }
  return m;
}

double value(Activation f, double z) { return f == Activation::relu ? std::max(z, 0.0) : std::tanh(z); }
double slope(Activation f, double a) { return f == Activation::relu ? (a > 0.0 ? 1.0 : 0.0) : 1.0 - a * a; }

struct Size {
  std::size_t m, k, n;
};

// Rows around a block's 5, columns around one and four vectors of every target, summed indices beyond one panel's 112.
const std::vector<Size> sizes = {{1, 1, 1},    {5, 9, 64},    {4, 54, 63},   {6, 112, 65},
                                 {11, 113, 7}, {50, 50, 130}, {13, 400, 47}, {3, 0, 20}};

// A sum of k terms of size about 1 in float, each rounding at most 2⁻²⁴ of a partial sum below k.
double tolerance(std::size_t k) { return static_cast<double>(k + 2) * std::sqrt(static_cast<double>(k + 1)) * 0x1p-22; }

class LayerOnTarget : public OnEverySimdTarget {};

TEST_P(LayerOnTarget, ActivatedLayerIsTheActivationOfTheBiasedProduct) {
  for (const auto& [m, k, n] : sizes) {
    for (const Activation f : {Activation::relu, Activation::tanh}) {
      const PaddedMatrix<float> a = random_matrix(m, k, 1), x = random_matrix(k, n, 2), b = random_matrix(1, m, 3);
      PaddedMatrix<float> out(m, n);
      activated_layer(f, plain(a.view()), b.row(0), x, out);
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          double z = b(0, i);
          for (std::size_t l = 0; l < k; ++l) z += static_cast<double>(a(i, l)) * x(l, j);
          ASSERT_NEAR(out(i, j), value(f, z), tolerance(k)) << m << 'x' << k << 'x' << n << " at " << i << ',' << j;
        }
      }
    }
  }
}

TEST_P(LayerOnTarget, ProductTimesSlopeReadsTheFactorTransposed) {
  for (const auto& [m, k, n] : sizes) {
    for (const Activation f : {Activation::relu, Activation::tanh}) {
      const PaddedMatrix<float> a = random_matrix(k, m, 4), d = random_matrix(k, n, 5), z = random_matrix(m, n, 6);
      PaddedMatrix<float> h(m, n), out(m, n);
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) h(i, j) = static_cast<float>(value(f, z(i, j)));
      }
      product_times_slope(f, transposed(a.view()), d, h, out);
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          double sum = 0.0;
          for (std::size_t l = 0; l < k; ++l) sum += static_cast<double>(a(l, i)) * d(l, j);
          ASSERT_NEAR(out(i, j), sum * slope(f, h(i, j)), tolerance(k)) << m << 'x' << k << 'x' << n;
        }
      }
    }
  }
}

TEST_P(LayerOnTarget, RowSumsAreAdded) {
  for (const auto& [m, k, n] : sizes) {
    const PaddedMatrix<float> d = random_matrix(m, n, 7);
    std::vector<float> sums(m, 0.5F);
    add_row_sums(d, sums);
    for (std::size_t i = 0; i < m; ++i) {
      double sum = 0.5;
      for (const float x : d.row(i)) sum += x;
      EXPECT_NEAR(sums[i], sum, tolerance(n));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Simd, LayerOnTarget, testing::ValuesIn(simd_targets()), target_name);

TEST(LayerKernels, RefuseShapesThatDoNotFit) {
  PaddedMatrix<float> a(3, 4), x(4, 5), out(3, 5);
  std::vector<float> b(3);
  EXPECT_NO_THROW(activated_layer(Activation::relu, plain(std::as_const(a).view()), b, x, out));
  EXPECT_THROW(activated_layer(Activation::relu, plain(std::as_const(x).view()), b, x, out), Error);
  EXPECT_THROW(product_times_slope(Activation::relu, plain(std::as_const(a).view()), x, x, out), Error);
  EXPECT_THROW(add_row_sums(x, b), Error);
}

}  // namespace
}  // namespace pits::test
