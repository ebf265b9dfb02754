// Shapes, first particles and refusals of the reward model.
#include "pits/model/reward_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "model/random_problem.h"

namespace pits::test {
namespace {

TEST(RewardModel, CountsItsParametersAsByHand) {
  const auto count = [](ModelConfig c, std::size_t d, std::size_t K) { return RewardModel(c, d, K).parameters(); };
  EXPECT_EQ(count({.kind = ModelKind::linear}, 10, 8), 10U * 8 + 8);
  EXPECT_EQ(count({.kind = ModelKind::logistic}, 3, 2), 3U * 2 + 2);
  EXPECT_EQ(count({.kind = ModelKind::mlp, .hidden = {50}}, 9, 7), 9U * 50 + 50 + 50 * 7 + 7);
  EXPECT_EQ(count({.kind = ModelKind::mlp, .hidden = {50, 20}}, 9, 7), 500U + 50 * 20 + 20 + 20 * 7 + 7);
  EXPECT_EQ(count({.kind = ModelKind::mlp, .hidden = {}}, 4, 3), 4U * 3 + 3);
  EXPECT_EQ(count({.kind = ModelKind::linear, .noise = Noise::learned}, 10, 8), 88U + 1);
  EXPECT_EQ(count({.kind = ModelKind::linear, .noise = Noise::learned_per_action}, 10, 8), 88U + 8);
  EXPECT_EQ(count({.kind = ModelKind::logistic, .noise = Noise::learned}, 3, 2), 8U);  // Bernoulli has no σ
}

RC_GTEST_PROP(RewardModel, CountsItsParametersAsThePlainModel, ()) {
  const Shape s = *any_shape();
  RC_ASSERT(RewardModel(s.config, s.d, s.K).parameters() == (PlainModel{s.config, s.d, s.K}.parameters()));
}

struct Moments {
  double mean, variance;
  std::size_t n;
};

// Of the parameters first .. first+count−1 of all particles.
Moments moments(const Particles& theta, std::size_t first, std::size_t count) {
  Moments m{.mean = 0.0, .variance = 0.0, .n = theta.rows() * count};
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    for (const float x : theta.row(i).subspan(first, count)) m.mean += x / static_cast<double>(m.n);
  }
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    for (const float x : theta.row(i).subspan(first, count)) m.variance += std::pow(x - m.mean, 2);
  }
  m.variance /= static_cast<double>(m.n);
  return m;
}

// Normal draws: the mean has standard error √(v/n), the variance v√(2/n). 4.5 of them: 7e-6 each.
void expect_normal(const Moments& m, double variance) {
  const auto n = static_cast<double>(m.n);
  EXPECT_NEAR(m.mean, 0.0, 4.5 * std::sqrt(variance / n));
  EXPECT_NEAR(m.variance, variance, 4.5 * variance * std::sqrt(2.0 / n));
}

Particles first_particles(const ModelConfig& config, std::size_t M) {
  const RewardModel model(config, 6, 4);
  Particles theta(M, model.parameters());
  Stream stream({.seed = 99, .purpose = Purpose::initial_particles});
  model.initialise(stream, theta);
  return theta;
}

// 6 – 5 – 4: weights at 0 (30), biases at 30 (5), weights at 35 (20), biases at 55 (4).
TEST(Initialise, FanInHasVarianceOneOverInputsPlusOneAndNoBiases) {
  const Particles theta = first_particles({.hidden = {5}, .init = Init::fan_in}, 2000);
  expect_normal(moments(theta, 0, 30), 1.0 / 7.0);
  expect_normal(moments(theta, 35, 20), 1.0 / 6.0);
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    for (const std::size_t l : {30U, 34U, 55U, 58U}) EXPECT_EQ(theta(i, l), 0.0F);
  }
}

TEST(Initialise, PriorHasTheVarianceOfThePrior) {
  const Particles same =
      first_particles({.hidden = {5}, .prior = PriorScale::same, .prior_precision = 4.0, .init = Init::prior}, 2000);
  expect_normal(moments(same, 0, 59), 0.25);
  const Particles fan_in =
      first_particles({.hidden = {5}, .prior = PriorScale::fan_in, .prior_precision = 2.0, .init = Init::prior}, 2000);
  expect_normal(moments(fan_in, 0, 35), 1.0 / 12.0);
  expect_normal(moments(fan_in, 35, 24), 1.0 / 10.0);
}

// U(−r, r): variance r²/3, fourth moment r⁴/5, so the variance has standard error r²√((1/5 − 1/9)/n).
TEST(Initialise, UniformFillsItsRangeAndLeavesBiasesAtZero) {
  const double r = 0.3;
  const Particles theta = first_particles({.hidden = {5}, .init = Init::uniform, .init_range = r}, 2000);
  const Moments m = moments(theta, 0, 30);
  const auto n = static_cast<double>(m.n);
  EXPECT_NEAR(m.mean, 0.0, 4.5 * r / std::sqrt(3.0 * n));
  EXPECT_NEAR(m.variance, r * r / 3.0, 4.5 * r * r * std::sqrt((1.0 / 5.0 - 1.0 / 9.0) / n));
  const auto [low, high] = std::ranges::minmax(theta.flat());
  EXPECT_GE(low, -0.3F);
  EXPECT_LE(high, 0.3F);
  EXPECT_LT(low, -0.2999F);  // n = 100,000 draws: the extremes miss the ends by about 2r/n
  EXPECT_GT(high, 0.2999F);
  for (const std::size_t l : {30U, 34U, 55U, 58U}) EXPECT_EQ(theta(7, l), 0.0F);
}

TEST(Initialise, LearnedNoiseIsDrawnFromItsPrior) {
  Particles theta =
      first_particles({.hidden = {5}, .noise = Noise::learned_per_action, .noise_sd = 0.25, .noise_log_sd = 0.5}, 2000);
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    for (std::size_t a = 0; a < 4; ++a) theta(i, 59 + a) -= static_cast<float>(std::log(0.25));
  }
  expect_normal(moments(theta, 59, 4), 0.25);
}

TEST(Initialise, LearnedNoiseStartsAtItsCentreWhereTheWeightsDoNotComeFromThePrior) {
  const Particles theta =
      first_particles({.hidden = {5}, .noise = Noise::learned_per_action, .noise_sd = 0.25, .init = Init::fan_in}, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t a = 0; a < 4; ++a) EXPECT_FLOAT_EQ(theta(i, 59 + a), static_cast<float>(std::log(0.25)));
  }
}

TEST(Initialise, GivesEveryParticleItsOwnDraws) {
  const Particles theta = first_particles({.hidden = {5}}, 50);
  EXPECT_EQ(std::set<float>(theta.flat().begin(), theta.flat().end()).size(), theta.size());
}

void expect_refused(const ModelConfig& config, std::size_t d, std::size_t K, const std::string& word) {
  try {
    RewardModel(config, d, K);
    ADD_FAILURE() << "accepted: " << word;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

TEST(RewardModel, RefusesEmptyShapesAndBadNumbers) {
  expect_refused({}, 0, 2, "context");
  expect_refused({}, 2, 0, "action");
  expect_refused({.hidden = {0}}, 2, 2, "hidden");
  expect_refused({.hidden = {5, -1}}, 2, 2, "hidden");
  expect_refused({.noise_sd = 0.0}, 2, 2, "noise_sd");
  expect_refused({.noise_log_sd = -1.0}, 2, 2, "noise_log_sd");
  expect_refused({.prior_precision = 0.0}, 2, 2, "prior_precision");
  expect_refused({.init_range = std::nan("")}, 2, 2, "init_range");
}

}  // namespace
}  // namespace pits::test
