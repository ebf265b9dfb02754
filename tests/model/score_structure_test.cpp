// What the score must be by the structure of U, without a reference for its numbers.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/random_problem.h"

namespace pits::test {
namespace {

Matrix<float> score_at_scale(const Problem& p, double scale) {
  return score_of(p.model, p.theta, make_minibatch(p.data, p.plain.d, p.plain.K, scale));
}

// ‖a − b‖ over all particles.
double distance(const Matrix<float>& a, const Matrix<float>& b) {
  double square = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) square += std::pow(double{a.data()[i]} - double{b.data()[i]}, 2);
  return std::sqrt(square);
}
double norm_of(const Matrix<float>& a) { return distance(a, Matrix<float>(a.rows(), a.cols())); }

// s = prior + scale · likelihood is affine in the scale: s(3) − s(2) = s(2) − s(1), and the prior's part at 0 is the
// gradient of the plain log prior.
RC_GTEST_PROP(ScoreStructure, TheScaleMultipliesTheLikelihoodAlone, (std::uint32_t seed)) {
  const Problem p = make_problem(*any_shape(), seed);
  const Matrix<float> prior = score_at_scale(p, 0.0);
  for (std::size_t i = 0; i < p.theta.rows(); ++i) {
    const auto expected =
        central_differences([&](const auto& t) { return p.plain.log_prior(t); }, as_double(p.theta.row(i)));
    for (std::size_t l = 0; l < expected.size(); ++l) {
      RC_ASSERT(std::abs(prior(i, l) - expected[l]) < 1e-6 * (1.0 + norm(expected)));
    }
  }
  const Matrix<float> one = score_at_scale(p, 1.0);
  const Matrix<float> four = score_at_scale(p, 4.0);
  Matrix<float> from_one(one.rows(), one.cols());
  for (std::size_t i = 0; i < one.size(); ++i) {
    from_one.data()[i] = prior.data()[i] + 4.0F * (one.data()[i] - prior.data()[i]);
  }
  // Both sides round their sums: a few units of 6e-8, times 4 for the extrapolation.
  RC_ASSERT(distance(four, from_one) <= 5e-6 * (norm_of(four) + norm_of(one) + norm_of(prior)));
}

RC_GTEST_PROP(ScoreStructure, ParticlesDoNotSeeEachOther, (std::uint32_t seed)) {
  const Problem p = make_problem(*any_shape(), seed);
  const Matrix<float> together = score_of(p);
  for (std::size_t i = 0; i < p.theta.rows(); ++i) {
    Particles alone(1, p.theta.cols());
    std::ranges::copy(p.theta.row(i), alone.data());
    const Matrix<float> score = score_of(p.model, alone, make_minibatch(p.data, p.plain.d, p.plain.K, p.scale));
    RC_ASSERT(std::ranges::equal(score.row(0), together.row(i)));
  }
}

// A reversed batch holds the columns of every group in the other order; only the rounding of sums may change.
RC_GTEST_PROP(ScoreStructure, TheOrderOfObservationsDoesNotMatter, (std::uint32_t seed)) {
  Problem p = make_problem(*any_shape(), seed);
  const Matrix<float> forward = score_of(p);
  std::ranges::reverse(p.data);
  double magnitude = 0.0;  // of the terms before they cancel
  for (const PlainObservation& o : p.data) {
    magnitude += norm_of(score_of(p.model, p.theta, make_minibatch({o}, p.plain.d, p.plain.K, p.scale)));
  }
  RC_ASSERT(distance(forward, score_of(p)) <= 1e-5 * magnitude);
}

// The last layer's row and bias of an action that nobody played, and its log σ, feel the prior only: the same bits.
RC_GTEST_PROP(ScoreStructure, AnUnplayedActionFeelsThePriorOnly, (std::uint32_t seed)) {
  Shape shape = *any_shape();
  shape.K += 1;
  Problem p = make_problem(shape, seed);
  const std::size_t unplayed = shape.K - 1;
  std::erase_if(p.data, [&](const PlainObservation& o) { return o.action == unplayed; });
  RC_PRE(!p.data.empty());
  const Matrix<float> score = score_of(p);
  const Matrix<float> prior = score_at_scale(p, 0.0);
  const auto widths = p.plain.widths();
  const std::size_t inputs = widths[widths.size() - 2];
  const std::size_t end = p.plain.network_parameters();
  const std::size_t weights = end - shape.K - inputs;  // the last of K rows of the last layer
  for (std::size_t i = 0; i < score.rows(); ++i) {
    for (std::size_t l = 0; l < inputs; ++l) RC_ASSERT(score(i, weights + l) == prior(i, weights + l));
    RC_ASSERT(score(i, end - 1) == prior(i, end - 1));
    if (p.plain.noise_parameters() > 1) {
      RC_ASSERT(score(i, score.cols() - 1) == prior(i, score.cols() - 1));
    }
  }
}

// A workspace that served a larger network and batch before gives the same bits.
TEST(ScoreStructure, AUsedWorkspaceLeavesNoTrace) {
  const Problem large =
      make_problem({.config = {.hidden = {9, 8}}, .d = 7, .K = 4, .particles = 3, .observations = 30}, 1);
  const Problem small = make_problem({.config = {.hidden = {5}}, .d = 3, .K = 2, .particles = 2, .observations = 4}, 2);
  Network::Workspace used;
  Matrix<float> score(3, large.theta.cols());
  large.model.score(large.theta, make_minibatch(large.data, 7, 4, 1.0), used, score);
  score.reshape(2, small.theta.cols());
  small.model.score(small.theta, make_minibatch(small.data, 3, 2, small.scale), used, score);
  EXPECT_TRUE(std::ranges::equal(score.flat(), score_of(small).flat()));
}

}  // namespace
}  // namespace pits::test
