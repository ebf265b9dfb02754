// The score against central differences of the plain log posterior, in double.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/random_problem.h"
#include "model/simd_fixture.h"

namespace pits::test {
namespace {

struct Reference {
  std::vector<double> gradient;  // ∇U
  double magnitude;              // the sum of the norms of its terms, before they cancel
};

std::vector<double> likelihood_term(const Problem& p, std::span<const double> theta, const PlainObservation& o) {
  return central_differences([&](const auto& t) { return p.plain.log_likelihood(t, o); },
                             std::vector<double>(theta.begin(), theta.end()));
}

Reference reference_score(const Problem& p, std::size_t particle) {
  const std::vector<double> theta = as_double(p.theta.row(particle));
  Reference r{.gradient = central_differences([&](const auto& t) { return p.plain.log_prior(t); }, theta),
              .magnitude = 0.0};
  r.magnitude = norm(r.gradient);
  for (const PlainObservation& o : p.data) {
    const std::vector<double> term = likelihood_term(p, theta, o);
    for (std::size_t l = 0; l < term.size(); ++l) r.gradient[l] += p.scale * term[l];
    // A term is proportional to r − m, which rounds like |r| + |m| even where it vanishes: the magnitude is taken one
    // unit of reward away too.
    PlainObservation moved = o;
    moved.reward += 1.0;
    r.magnitude += p.scale * std::max(norm(term), norm(likelihood_term(p, theta, moved)));
  }
  return r;
}

// Differences of U are no gradient across the kink of a ReLU: a step of 1e-5 moves a unit by less than this.
constexpr double kink_margin = 3e-4;

bool away_from_kinks(const Problem& p) {
  if (p.plain.config.activation != Activation::relu) return true;
  for (std::size_t i = 0; i < p.theta.rows(); ++i) {
    if (p.plain.nearest_kink(as_double(p.theta.row(i)), p.data) < kink_margin) return false;
  }
  return true;
}

// ‖score − ∇U‖ over the magnitude, worst particle. Float rounds by 6e-8, and the longest chain of sums here has about
// d + Σ widths + B < 100 terms: 6e-6 if all roundings pointed the same way, doubled for the way back.
constexpr double float_tolerance = 1.5e-5;

double worst_error(const Problem& p, const Matrix<float>& score) {
  double worst = 0.0;
  for (std::size_t i = 0; i < p.theta.rows(); ++i) {
    const Reference reference = reference_score(p, i);
    std::vector<double> error = as_double(score.row(i));
    for (std::size_t l = 0; l < error.size(); ++l) error[l] -= reference.gradient[l];
    worst = std::max(worst, norm(error) / reference.magnitude);
  }
  return worst;
}

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
