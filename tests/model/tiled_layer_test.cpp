// Layers with their numbers rounded to bf16, on tile registers, against plain loops in double; the score against
// differences.
#include "pits/model/kernels/tiled_layer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/score_reference.h"
#include "pits/core/error.h"

namespace pits::test {
namespace {

PaddedMatrix<float> random_matrix(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  PaddedMatrix<float> m(rows, cols);
  for (std::size_t i = 0; i < rows; ++i) stream.fill_normal(m.row(i));
  return m;
}

struct Size {
  std::size_t m, k, n;
};
const std::vector<Size> sizes = {{1, 1, 1}, {5, 9, 64}, {50, 50, 130}, {13, 90, 47}};

// Of a sum of k products of normal numbers, each off by at most 2⁻⁷, with random signs: eight standard deviations.
double tolerance(std::size_t k) { return 8.0 * std::sqrt(static_cast<double>(k)) * 0x1p-8; }

class Bf16Layer : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine_has_tiles()) GTEST_SKIP() << "needs AMX";
  }
  TiledScratch scratch;
};

TEST_F(Bf16Layer, ActivatesTheBiasedProduct) {
  for (const auto& [m, k, n] : sizes) {
    const PaddedMatrix<float> a = random_matrix(m, k, 1), x = random_matrix(k, n, 2), b = random_matrix(1, m, 3);
    PaddedMatrix<float> out(m, n);
    activated_layer_bf16(Activation::relu, a.view(), b.row(0), x, scratch, out);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double z = b(0, i);
        for (std::size_t l = 0; l < k; ++l) z += static_cast<double>(a(i, l)) * x(l, j);
        ASSERT_NEAR(out(i, j), std::max(z, 0.0), tolerance(k));
      }
    }
  }
}

TEST_F(Bf16Layer, ProductTimesSlopeReadsTheFactorTransposed) {
  for (const auto& [m, k, n] : sizes) {
    const PaddedMatrix<float> a = random_matrix(k, m, 4), d = random_matrix(k, n, 5), h = random_matrix(m, n, 6);
    PaddedMatrix<float> out(m, n);
    product_times_slope_bf16(Activation::relu, transposed(a.view()), d, h, scratch, out);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0.0;
        for (std::size_t l = 0; l < k; ++l) sum += static_cast<double>(a(l, i)) * d(l, j);
        ASSERT_NEAR(out(i, j), h(i, j) > 0.0F ? sum : 0.0, tolerance(k));
      }
    }
  }
}

TEST_F(Bf16Layer, ProductsAreAdded) {
  for (const auto& [m, k, n] : sizes) {
    const PaddedMatrix<float> a = random_matrix(m, k, 7), b = random_matrix(n, k, 8);
    PaddedMatrix<float> c = random_matrix(m, n, 9);
    const PaddedMatrix<float> before = c;
    add_product_transposed_bf16(a, b, scratch, c);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = before(i, j);
        for (std::size_t l = 0; l < k; ++l) sum += static_cast<double>(a(i, l)) * b(j, l);
        ASSERT_NEAR(c(i, j), sum, tolerance(k));
      }
    }
  }
}

// Smooth units: rounded sums would cross the kinks of others. Numbers lose 2⁻⁸ two or three times on each way.
TEST_F(Bf16Layer, ScoreIsNearTheGradientOfThePlainLogPosterior) {
  const Problem p = make_problem({.config = {.hidden = {20, 7}, .activation = Activation::tanh},
                                  .d = 40,
                                  .K = 3,
                                  .particles = 2,
                                  .observations = 19},
                                 3);
  Minibatch batch = make_minibatch(p.data, p.plain.d, p.plain.K, p.scale);
  const double exact = worst_error(p, score_of(p.model, p.theta, batch));
  batch.bf16 = true;
  batch.sparse.find(batch.contexts, batch.bf16);
  ASSERT_TRUE(batch.sparse.tiled);
  const double error = worst_error(p, score_of(p.model, p.theta, batch));
  EXPECT_LT(error, 6 * 0x1p-8);
  EXPECT_GT(error, 100 * exact) << "the numbers are rounded";
}

TEST_F(Bf16Layer, RefuseShapesThatDoNotFit) {
  PaddedMatrix<float> a(3, 4), x(4, 5), out(3, 5);
  std::vector<float> b(3);
  EXPECT_NO_THROW(activated_layer_bf16(Activation::relu, a.view(), b, x.view(), scratch, out));
  EXPECT_THROW(activated_layer_bf16(Activation::relu, x.view(), b, x.view(), scratch, out), Error);
  EXPECT_THROW(product_times_slope_bf16(Activation::relu, plain<float>(a.view()), x, x, scratch, out), Error);
  EXPECT_THROW(add_product_transposed_bf16(a.view(), x.view(), scratch, out), Error);
}

}  // namespace
}  // namespace pits::test
