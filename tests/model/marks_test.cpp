// Weights, reward offsets, anchors and heads in the score, against differences of the plain log posterior.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/random_problem.h"

namespace pits::test {
namespace {

// Marks in the order of p.data, and in the minibatch's order (grouped by action).
struct Marked {
  Matrix<float> weights, offsets, anchors;  // (M,n), (M,n), (M,P)
  Minibatch batch;
};

Marked marked(const Problem& p, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::observation_marks});
  const std::size_t M = p.theta.rows();
  const std::size_t n = p.data.size();
  Marked m{.weights = Matrix<float>(M, n),
           .offsets = Matrix<float>(M, n),
           .anchors = Matrix<float>(M, p.theta.cols()),
           .batch = make_minibatch(p.data, p.plain.d, p.plain.K, p.scale)};
  for (float& w : m.weights.flat()) w = stream.index(4) == 0 ? 0.0F : 2.0F * stream.uniform_float();
  stream.fill_normal(m.offsets.flat(), p.plain.bernoulli() ? 0.1F : 1.0F);
  stream.fill_normal(m.anchors.flat(), 0.5F);
  m.batch.weights = Matrix<float>(M, n);
  m.batch.offsets = Matrix<float>(M, n);
  std::size_t column = 0;
  for (std::size_t a = 0; a < p.plain.K; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (p.data[b].action != a) continue;
      for (std::size_t i = 0; i < M; ++i) {
        m.batch.weights(i, column) = m.weights(i, b);
        m.batch.offsets(i, column) = m.offsets(i, b);
      }
      ++column;
    }
  }
  return m;
}

// U_i(θ) = scale Σ_b w_ib log p(r_b + o_ib | θ) + log p0 with its centre moved to anchor i.
double log_posterior(const Problem& p, const Marked& m, std::size_t i, const std::vector<double>& theta) {
  double sum = 0.0;
  for (std::size_t b = 0; b < p.data.size(); ++b) {
    PlainObservation o = p.data[b];
    o.reward += m.offsets(i, b);
    sum += m.weights(i, b) * p.plain.log_likelihood(theta, o);
  }
  std::vector<double> off = theta;
  for (std::size_t l = 0; l < off.size(); ++l) {
    off[l] -= m.anchors(i, l);
    if (l >= p.plain.network_parameters()) off[l] += std::log(p.plain.config.noise_sd);  // its prior's own centre
  }
  return p.scale * sum + p.plain.log_prior(off);
}

// Float rounds by 6e-8; sums of up to 100 terms, and terms that cancel by up to 30 times: 2e-4 of the gradient's norm
// plus what the largest single term, about scale·σ⁻², rounds to.
void expect_marked_score(const Problem& p, std::uint64_t seed) {
  const Marked m = marked(p, seed);
  Network::Workspace workspace;
  Matrix<float> score(p.theta.rows(), p.theta.cols());
  p.model.score(p.theta, m.batch, workspace, score, m.anchors);
  for (std::size_t i = 0; i < p.theta.rows(); ++i) {
    const auto gradient =
        central_differences([&](const auto& t) { return log_posterior(p, m, i, t); }, as_double(p.theta.row(i)));
    std::vector<double> error = as_double(score.row(i));
    for (std::size_t l = 0; l < error.size(); ++l) error[l] -= gradient[l];
    EXPECT_LT(norm(error), 2e-4 * (1.0 + norm(gradient)));
  }
}

TEST(MarkedScore, IsTheGradientOfThePlainLogPosterior) {
  int seed = 0;
  for (const ModelKind kind : {ModelKind::linear, ModelKind::logistic, ModelKind::mlp, ModelKind::mlp_logistic}) {
    for (const Noise noise : {Noise::fixed, Noise::learned, Noise::learned_per_action}) {
      const ModelConfig config{.kind = kind,
                               .hidden = {6, 4},
                               .activation = Activation::tanh,
                               .noise = noise,
                               .noise_sd = 0.5,
                               .prior_precision = 0.7};
      const Shape shape{.config = config, .d = 5, .K = 3, .particles = 3, .observations = 17};
      expect_marked_score(make_problem(shape, static_cast<std::uint64_t>(++seed)), 40);
    }
  }
}

RC_GTEST_PROP(MarkedScore, WeightsOfOneAndOffsetsOfZeroChangeNoBit, (std::uint32_t seed)) {
  const Problem p = make_problem(*any_shape(), seed);
  Minibatch batch = make_minibatch(p.data, p.plain.d, p.plain.K, p.scale);
  const Matrix<float> plain = score_of(p.model, p.theta, batch);
  batch.weights.reshape(p.theta.rows(), batch.size());
  std::ranges::fill(batch.weights.flat(), 1.0F);
  batch.offsets.reshape(p.theta.rows(), batch.size());
  const Matrix<float> with_marks = score_of(p.model, p.theta, batch);
  RC_ASSERT(std::ranges::equal(plain.flat(), with_marks.flat()));
}

// No prior: the body's gradient is divided by the heads, the last layer's is not.
TEST(Heads, DivideTheGradientOfTheBody) {
  const ModelConfig config{
      .hidden = {6, 4}, .activation = Activation::tanh, .prior_precision = 0.0, .init = Init::fan_in};
  const Shape shape{.config = config, .d = 3, .K = 6, .particles = 2, .observations = 20};
  const Problem p = make_problem(shape, 5);
  ModelConfig headed = config;
  headed.heads = 3;
  const Minibatch batch = make_minibatch(p.data, 3, 6, p.scale);
  const Matrix<float> score = score_of(RewardModel(headed, 3, 6), p.theta, batch);
  const std::size_t last = p.model.network().layers().back().weights;
  for (std::size_t i = 0; i < p.theta.rows(); ++i) {
    const auto gradient = central_differences([&](const auto& t) { return p.plain.log_posterior(t, p.data, p.scale); },
                                              as_double(p.theta.row(i)));
    for (std::size_t l = 0; l < gradient.size(); ++l) {
      EXPECT_NEAR(score(i, l), gradient[l] / (l < last ? 3.0 : 1.0), 2e-4 * norm(gradient));
    }
  }
}

}  // namespace
}  // namespace pits::test
