// Predictions against the plain loop.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/random_problem.h"
#include "model/simd_fixture.h"

namespace pits::test {
namespace {

// Rounding of sums of at most 30 terms, carried through up to 4 layers of weights around 0.7.
constexpr double tolerance = 2e-5;

double scale_of(const std::vector<double>& m) { return 1.0 + norm(m); }

RC_GTEST_PROP(Predict, AgreesWithThePlainLoop, (std::uint32_t seed)) {
  const Problem p = make_problem(*any_shape(), seed);
  Network::Workspace w;
  std::vector<float> m(p.plain.K);
  for (std::size_t i = 0; i < p.theta.rows(); ++i) {
    for (const PlainObservation& o : p.data) {
      const std::vector<float> x(o.x.begin(), o.x.end());
      p.model.predict(p.theta.row(i), x, w, m);
      const std::vector<double> expected = p.plain.predict(as_double(p.theta.row(i)), o.x);
      for (std::size_t a = 0; a < m.size(); ++a) {
        RC_ASSERT(std::abs(m[a] - expected[a]) < tolerance * scale_of(expected));
      }
    }
  }
}

RC_GTEST_PROP(Predict, AllParticlesAtOnceAreTheParticlesOneByOne, (std::uint32_t seed)) {
  const Problem p = make_problem(*any_shape(), seed);
  const std::vector<float> x(p.data[0].x.begin(), p.data[0].x.end());
  Network::Workspace w;
  Matrix<float> all(p.theta.rows(), p.plain.K);
  p.model.predict(p.theta, x, w, all);
  std::vector<float> one(p.plain.K);
  for (std::size_t i = 0; i < p.theta.rows(); ++i) {
    p.model.predict(p.theta.row(i), x, w, one);
    RC_ASSERT(std::ranges::equal(one, all.row(i)));
  }
}

RC_GTEST_PROP(Predict, BernoulliMeansStayInTheUnitInterval, (std::uint32_t seed)) {
  Shape shape = *any_shape();
  shape.config.kind = *rc::gen::element(ModelKind::logistic, ModelKind::mlp_logistic);
  Problem p = make_problem(shape, seed);
  for (float& x : p.theta.flat()) x *= 1000.0F;  // far into both tails of the sigmoid
  Network::Workspace w;
  std::vector<float> m(shape.K);
  const std::vector<float> x(p.data[0].x.begin(), p.data[0].x.end());
  p.model.predict(p.theta.row(0), x, w, m);
  for (const float value : m) RC_ASSERT(value >= 0.0F && value <= 1.0F);
  const Matrix<float> score = score_of(p);
  for (const float value : score.flat()) RC_ASSERT(std::isfinite(value));
}

class PredictOnTarget : public OnEverySimdTarget {};

TEST_P(PredictOnTarget, AgreesWithThePlainLoop) {
  for (std::size_t width = 1; width < 40; ++width) {
    const Problem p = make_problem({.config = {.hidden = {static_cast<int>(width)}}, .d = width, .K = 4}, width);
    const std::vector<float> x(p.data[0].x.begin(), p.data[0].x.end());
    Network::Workspace w;
    std::vector<float> m(4);
    p.model.predict(p.theta.row(0), x, w, m);
    const std::vector<double> expected = p.plain.predict(as_double(p.theta.row(0)), p.data[0].x);
    for (std::size_t a = 0; a < 4; ++a) EXPECT_NEAR(m[a], expected[a], tolerance * scale_of(expected)) << width;
  }
}
INSTANTIATE_TEST_SUITE_P(Simd, PredictOnTarget, testing::ValuesIn(simd_targets()), target_name);

}  // namespace
}  // namespace pits::test
