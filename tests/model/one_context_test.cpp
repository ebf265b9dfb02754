// The path of a decision against the plain loop, on every SIMD target: rows that do not fill a vector, layers whose
// units are no multiple of four.
#include "pits/model/kernels/one_context.h"

#include <gtest/gtest.h>

#include "model/random_problem.h"
#include "model/simd_fixture.h"
#include "pits/core/error.h"

namespace pits::test {
namespace {

// Sums of n products of numbers around 0.7 and 1, rounded n times, through three layers.
double tolerance(std::size_t n) { return 1e-6 * static_cast<double>(n); }

class OneContextOnTarget : public OnEverySimdTarget {};

TEST_P(OneContextOnTarget, IsThePlainLoop) {
  for (const std::size_t d : {1U, 3U, 4U, 15U, 16U, 17U, 54U, 94U, 389U}) {
    for (const Activation activation : {Activation::relu, Activation::tanh}) {
      const Problem p = make_problem(
          {.config = {.hidden = {50, 7}, .activation = activation}, .d = d, .K = 1 + d % 9, .particles = 3}, d);
      const std::vector<float> x(p.data[0].x.begin(), p.data[0].x.end());
      std::vector<float> scratch;
      Matrix<float> out(3, p.plain.K);
      evaluate_context({p.model.network().layers(), activation, false}, p.theta, x, scratch, out);
      for (std::size_t i = 0; i < 3; ++i) {
        const std::vector<double> expected = p.plain.outputs(as_double(p.theta.row(i)), p.data[0].x);
        for (std::size_t a = 0; a < p.plain.K; ++a) {
          EXPECT_NEAR(out(i, a), expected[a], tolerance(d + 50) * (1.0 + norm(expected))) << "d = " << d;
        }
      }
    }
  }
}

// The last particle's numbers end where its block does: nothing behind them may be read into a result.
TEST_P(OneContextOnTarget, TouchesNothingBehindTheParticle) {
  const Problem p = make_problem({.config = {.hidden = {5}}, .d = 3, .K = 3}, 1);
  std::vector<float> block(p.theta.size() + 64, std::numeric_limits<float>::quiet_NaN());
  std::ranges::copy(p.theta.flat(), block.begin());
  const std::vector<float> x(p.data[0].x.begin(), p.data[0].x.end());
  std::vector<float> scratch, out(3 + 16, -1.0F);
  evaluate_context({p.model.network().layers(), Activation::relu, false},
                   ParticlesView(block.data(), 1, p.theta.cols()), x, scratch, MatrixView<float>(out.data(), 1, 3));
  for (std::size_t a = 0; a < 3; ++a) EXPECT_TRUE(std::isfinite(out[a]));
  for (std::size_t a = 3; a < out.size(); ++a) EXPECT_EQ(out[a], -1.0F);
}
INSTANTIATE_TEST_SUITE_P(Simd, OneContextOnTarget, testing::ValuesIn(simd_targets()), target_name);

TEST(OneContext, RefusesShapesThatDoNotMatch) {
  const Problem p = make_problem({.config = {.hidden = {5}}, .d = 3, .K = 3}, 1);
  std::vector<float> scratch, x(4);
  Matrix<float> out(1, 3);
  EXPECT_THROW(evaluate_context({p.model.network().layers(), Activation::relu, false}, p.theta, x, scratch, out),
               Error);
}

}  // namespace
}  // namespace pits::test
