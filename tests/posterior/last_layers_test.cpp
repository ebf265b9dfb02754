#include "pits/posterior/last_layers.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "posterior/observations.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 3, K = 2;
const Address address{.seed = 4, .realization = 1};

ParticleConfig small(int particles, ModelKind kind = ModelKind::mlp) {
  ParticleConfig c;
  c.particles = particles;
  c.model.kind = kind;
  c.model.hidden = {5};
  c.model.noise_sd = 0.5;
  c.batch = 32;
  c.units = UnitsKind::standardised;
  return c;
}

Observation as_observation(const PlainObservation& o, std::vector<float>& x) {
  x.assign(o.x.begin(), o.x.end());
  return {.context = x, .action = static_cast<std::uint32_t>(o.action), .reward = static_cast<float>(o.reward)};
}

struct Learned {
  ParticlePosterior posterior;
  LastLayers layers;

  Learned(const ParticleConfig& config, const LastLayerConfig& last, const std::vector<PlainObservation>& data)
      : posterior(config, d, K, address.seed, address.realization), layers(last, posterior, address) {
    for (const PlainObservation& o : data) observe(posterior, o);
    posterior.train(3);
    layers.fit(posterior);
  }
};

// φ of one observation by the network's own evaluation: hidden units, context, 1.
Eigen::VectorXd features(const Learned& l, std::size_t particle, std::span<const float> raw, bool inputs) {
  Network::Workspace w;
  const std::vector<float> x(l.posterior.units().context(raw).begin(), l.posterior.units().context(raw).end());
  const auto units = l.posterior.model().network().hidden(l.posterior.particles().row(particle), x, w);
  std::vector<double> row(units.begin(), units.end());
  if (inputs) row.insert(row.end(), x.begin(), x.end());
  row.push_back(1.0);
  return Eigen::Map<Eigen::VectorXd>(row.data(), static_cast<Eigen::Index>(row.size()));
}

// All in double, observation by observation.
std::vector<RegressionSums> plain_sums(const Learned& l, std::size_t particle,
                                       const std::vector<PlainObservation>& data, bool inputs) {
  std::vector<RegressionSums> sums;
  std::vector<float> x;
  for (const PlainObservation& o : data) {
    const Eigen::VectorXd row = features(l, particle, as_observation(o, x).context, inputs);
    if (sums.empty()) sums.assign(K, RegressionSums(row.size()));
    const double y = l.posterior.units().reward(o.reward);
    sums[o.action].add(Eigen::MatrixXd(row), Eigen::VectorXd::Constant(1, y));
  }
  return sums;
}

// Sums of a few dozen float products have a relative error of about 1e-6, which the precision's condition number, below
// 1e3 here, amplifies.
constexpr double tolerance = 2e-3;

TEST(LastLayers, AreTheRegressionsOfTheRewardsOnTheFeatures) {
  const auto data = linear_data(60, d, K, 7);
  const Learned l(small(3), {.kind = LastLayerKind::exact}, data);
  const BayesLinearConfig noise{.lambda = 1.0, .a0 = 2.0, .b0 = 0.3};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto sums = plain_sums(l, i, data, true);
    std::vector<CoefficientGroup> groups = {{.first = 0, .count = 5, .precision = 1.0, .low = 0.125, .high = 512.0},
                                            {.first = 5, .count = 3, .precision = 16.0, .low = 2.5e-4, .high = 4096.0},
                                            {.first = 8, .count = 1, .precision = 1.0, .low = 0.125, .high = 512.0}};
    evidence_step(sums, noise, groups);
    Eigen::VectorXd prior;
    prior_precision(groups, prior);
    double a = noise.a0, b = noise.b0;
    for (std::size_t k = 0; k < K; ++k) {
      Eigen::MatrixXd precision = sums[k].xx.selfadjointView<Eigen::Lower>();
      precision.diagonal() += prior;
      const Eigen::VectorXd mean = precision.ldlt().solve(sums[k].xy);
      EXPECT_LT((l.layers.regression(i, k).mean() - mean).norm(), tolerance * mean.norm());
      a += 0.5 * sums[k].n;
      b += 0.5 * (sums[k].yy - mean.dot(precision * mean));
    }
    EXPECT_NEAR(l.layers.noise_variance(i), b / a, tolerance * b / a);
  }
}

TEST(LastLayers, LearnAnObservationAsAFitWithItWould) {
  auto data = linear_data(61, d, K, 9);
  const PlainObservation last = data.back();
  data.pop_back();
  Learned l(small(2), {.kind = LastLayerKind::exact}, data);
  const Eigen::VectorXd before = l.layers.regression(0, 1 - last.action).mean();
  std::vector<float> x;
  l.layers.observe(l.posterior, as_observation(last, x));
  EXPECT_EQ(l.layers.regression(0, 1 - last.action).mean(), before);  // the other action's
  const BayesLinear& regression = l.layers.regression(0, last.action);
  data.push_back(last);
  const RegressionSums sums = plain_sums(l, 0, data, true)[last.action];
  EXPECT_LT((regression.precision() * regression.mean() - sums.xy).norm(), tolerance * sums.xy.norm());
  EXPECT_EQ(regression.n(), sums.n);
}

// A linear model has the same features in every particle, so that particles differ by their draws alone.
TEST(LastLayers, ParticlesAreDrawsFromThePosterior) {
  constexpr int M = 4000;
  const auto data = linear_data(40, d, K, 2);
  const Learned l(small(M, ModelKind::linear), {.kind = LastLayerKind::exact, .exploration = 0.7}, data);
  std::vector<float> x;
  const std::span<const float> context = as_observation(data[3], x).context;
  const std::vector<float> z(l.posterior.units().context(context).begin(), l.posterior.units().context(context).end());
  Network::Workspace w;
  std::vector<float> out(K);
  const BayesLinear& regression = l.layers.regression(0, 1);
  const Eigen::VectorXd phi = features(l, 0, context, false);
  double mean = 0.0, square = 0.0;
  for (std::size_t i = 0; i < M; ++i) {
    l.layers.drawn().values(l.posterior.model().network(), l.posterior.particles(), i, z, w, out);
    const double deviation = out[1] - phi.dot(regression.mean());
    mean += deviation / M;
    square += deviation * deviation / M;
  }
  const double variance = 0.49 * l.layers.noise_variance(0) * regression.leverage(phi);
  EXPECT_NEAR(mean, 0.0, 4.0 * std::sqrt(variance / M));
  EXPECT_NEAR(square, variance, 4.0 * variance * std::sqrt(2.0 / M));
}

TEST(LastLayers, MeansStayNearTheRewardsSeen) {
  const auto data = linear_data(40, d, K, 3);
  const Learned l(small(4), {.kind = LastLayerKind::exact, .exploration = 0.0}, data);
  const RewardScale& scale = l.posterior.units().reward_scale();
  const double room = 0.1 * (scale.high - scale.low);
  const std::vector<float> z = {10.0F, -10.0F, 10.0F};
  Network::Workspace w;
  std::vector<float> out(K);
  bool reached = false;
  for (std::size_t i = 0; i < 4; ++i) {
    l.layers.drawn().values(l.posterior.model().network(), l.posterior.particles(), i, z, w, out);
    for (const float value : out) {
      const double r = l.posterior.units().raw_reward(value);
      EXPECT_GE(r, scale.low - room - 1e-5);
      EXPECT_LE(r, scale.high + room + 1e-5);
      reached = reached || std::abs(r - (scale.high + room)) < 1e-5 || std::abs(r - (scale.low - room)) < 1e-5;
    }
  }
  EXPECT_TRUE(reached) << "no particle leaves the rewards seen, so this shows nothing";
}

// Rewards of 100 and 101: before they have differed by as much as they are large, draws are wide.
TEST(LastLayers, DoubtTheScaleOfRewardsThatHaveHardlyVaried) {
  auto data = linear_data(20, d, K, 3);
  for (std::size_t i = 0; i < data.size(); ++i) data[i].reward = 100.0 + static_cast<double>(i % 2);
  const Learned narrow(small(2), {.kind = LastLayerKind::exact}, data);
  data.front().reward = -100.0;
  const Learned wide(small(2), {.kind = LastLayerKind::exact}, data);
  const auto spread = [](const Learned& l) {
    return l.layers.drawn().spread(0, 0) * l.posterior.units().reward_scale().sd;
  };
  const double pairs = 0.5 * narrow.layers.regression(0, 0).n(), sd = narrow.posterior.units().reward_scale().sd;
  EXPECT_GT(spread(narrow), 0.25 * 32.0 * sd * std::sqrt(1.0 / (1.0 + pairs)));
  EXPECT_LT(spread(wide), 0.25 * wide.posterior.units().reward_scale().sd * 2.0);
}

TEST(LastLayers, TheDoubtIsAMultipleOfHowLargeRewardsAre) {
  auto data = linear_data(20, d, K, 3);
  for (std::size_t i = 0; i < data.size(); ++i) data[i].reward = 100.0 + static_cast<double>(i % 2);
  const auto variance = [&](double doubt) {
    const Learned l(small(2), {.kind = LastLayerKind::exact, .exploration = 1.0, .doubt = doubt}, data);
    return static_cast<double>(l.layers.drawn().spread(1, 0)) * l.layers.drawn().spread(1, 0);
  };
  // Rewards of 100 and 101 have a standard deviation of 1/2, and the doubt is 99.5 of their own units: 1/20 of it
  // is 9.95 standard deviations, and all of it far above 32.
  const double none = variance(0.0), little = variance(0.05), thrice = variance(0.15);
  EXPECT_GT(little, none);
  EXPECT_NEAR(thrice - none, 9.0 * (little - none), 1e-5 * thrice);
  const double most = variance(1.0);
  EXPECT_NEAR(most - none, (32.0 / 9.95) * (32.0 / 9.95) * (little - none), 1e-3 * most);
  EXPECT_EQ(variance(4.0), most);
}

// What six particles think of one context, (6,K): one after the other where each is alone, else all at once.
Matrix<float> rewards_of_six(LastLayerConfig config) {
  config.kind = LastLayerKind::exact;
  const Learned l(small(6), config, linear_data(40, d, K, 3));
  const Network& network = l.posterior.model().network();
  const std::vector<float> z = {0.3F, -0.4F, 0.2F};
  Network::Workspace w;
  Matrix<float> out(6, K);
  EXPECT_EQ(l.layers.drawn().alone(), config.disagreement == 1.0);
  if (!l.layers.drawn().alone()) l.layers.drawn().values(network, l.posterior.particles(), z, w, out);
  for (std::size_t i = 0; i < 6 && l.layers.drawn().alone(); ++i) {
    l.layers.drawn().values(network, l.posterior.particles(), i, z, w, out.row(i));
  }
  return out;
}

// Of the same draws, those above the mean stay, and the others are the mean.
TEST(LastLayers, OptimisticDrawsAreNotBelowTheMean) {
  const auto values = [](double exploration, bool optimistic) {
    return rewards_of_six({.exploration = exploration, .optimistic = optimistic});
  };
  const Matrix<float> mean = values(0.0, false), drawn = values(1.0, false), upwards = values(1.0, true);
  int below = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_EQ(upwards.data()[i], std::max(mean.data()[i], drawn.data()[i]));
    below += drawn.data()[i] < mean.data()[i] ? 1 : 0;
  }
  EXPECT_GT(below, 0);
}

// Of the same means and draws, all that particles differ by in their means is multiplied.
TEST(LastLayers, ParticlesComeNearerToTheMeanOfAll) {
  const auto values = [](double exploration, double disagreement) {
    return rewards_of_six({.exploration = exploration, .disagreement = disagreement});
  };
  const Matrix<float> means = values(0.0, 1.0), drawn = values(1.0, 1.0);
  for (const double rho : {0.0, 0.3, 0.999}) {
    const Matrix<float> nearer = values(1.0, rho);
    for (std::size_t a = 0; a < K; ++a) {
      double mean = 0.0;
      for (std::size_t i = 0; i < 6; ++i) mean += means(i, a) / 6.0;
      for (std::size_t i = 0; i < 6; ++i) {
        const double offset = drawn(i, a) - means(i, a);
        EXPECT_NEAR(nearer(i, a), mean + rho * (means(i, a) - mean) + offset, 1e-5);
      }
    }
  }
}

TEST(LastLayers, NetworksAreTrainedWithTheirNoiseWhereThatIsLarger) {
  const auto data = linear_data(60, d, K, 7);
  const auto noise = [&](bool train_noise, double own_sd, double width = 1.0) {
    const Learned l(small(3), {.kind = LastLayerKind::exact, .train_noise = train_noise}, data);
    std::vector<float> sd;
    l.layers.training_noise(own_sd, width, sd);
    return sd;
  };
  EXPECT_TRUE(noise(false, 0.01).empty());
  EXPECT_EQ(noise(true, 7.0), std::vector<float>(3, 7.0F));
  const Learned l(small(3), {.kind = LastLayerKind::exact}, data);
  const std::vector<float> found = noise(true, 1e-6);
  ASSERT_EQ(found.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_FLOAT_EQ(found[i] * found[i], static_cast<float>(l.layers.noise_variance(i)));
  EXPECT_FLOAT_EQ(noise(true, 1e-6, 4.0)[1], 4.0F * found[1]);
}

TEST(LastLayers, NewActionsStartFromThePriorAndTheOthersStay) {
  const auto data = linear_data(40, d, K, 5);
  Learned l(small(3), {.kind = LastLayerKind::exact}, data);
  const Eigen::VectorXd before = l.layers.regression(2, 1).mean();
  l.posterior.add_actions(2);
  l.layers.add_actions(l.posterior, 2);
  EXPECT_EQ(l.layers.regression(2, 1).mean(), before);
  EXPECT_EQ(l.layers.regression(2, 3).mean().norm(), 0.0);
  EXPECT_EQ(l.layers.regression(2, 3).n(), 0.0);
}

}  // namespace
}  // namespace pits::test
