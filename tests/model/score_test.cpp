// The score against central differences of the plain log posterior, in double.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/score_reference.h"
#include "model/simd_fixture.h"

namespace pits::test {
namespace {

RC_GTEST_PROP(Score, IsTheGradientOfThePlainLogPosterior, (std::uint32_t seed)) {
  const Problem p = make_problem(*any_shape(), seed);
  RC_PRE(away_from_kinks(p));
  RC_TAG(format_value(p.plain.config.kind));
  RC_ASSERT(worst_error(p, score_of(p)) < float_tolerance);
}

// The sum of the terms is the difference quotient of U itself: the reference above splits it only for its magnitude.
TEST(Score, ReferenceSumsToTheDifferencesOfU) {
  const Problem p = make_problem({.config = {.hidden = {4, 3}, .activation = Activation::tanh, .noise = Noise::learned},
                                  .d = 3,
                                  .K = 2,
                                  .particles = 1,
                                  .observations = 6},
                                 3);
  const auto whole = central_differences([&](const auto& t) { return p.plain.log_posterior(t, p.data, p.scale); },
                                         as_double(p.theta.row(0)));
  const Reference r = reference_score(p, 0);
  for (std::size_t l = 0; l < whole.size(); ++l) EXPECT_NEAR(r.gradient[l], whole[l], 1e-6 * r.magnitude);
}

class ScoreOnTarget : public OnEverySimdTarget {};

// Widths on both sides of the lanes of every target (4, 8, 16).
TEST_P(ScoreOnTarget, IsTheGradientOfThePlainLogPosterior) {
  int compared = 0;
  for (const std::size_t width : {1U, 3U, 4U, 7U, 8U, 15U, 17U}) {
    for (const Activation activation : {Activation::relu, Activation::tanh}) {
      const Shape shape{.config = {.hidden = {static_cast<int>(width), 5}, .activation = activation},
                        .d = width,
                        .K = 3,
                        .particles = 2,
                        .observations = width + 2};
      const Problem p = make_problem(shape, 17 + width);
      if (!away_from_kinks(p)) continue;
      ++compared;
      EXPECT_LT(worst_error(p, score_of(p)), float_tolerance) << "width " << width;
    }
  }
  EXPECT_GE(compared, 10);
}
INSTANTIATE_TEST_SUITE_P(Simd, ScoreOnTarget, testing::ValuesIn(simd_targets()), target_name);

}  // namespace
}  // namespace pits::test
