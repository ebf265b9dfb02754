#include "pits/posterior/last_layers.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "posterior/observations.h"
#include "posterior/plain_last_layers.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 3, K = 2;
const Address address{.seed = 4, .realization = 1};

PosteriorConfig small(int particles, ModelKind kind = ModelKind::mlp) {
  PosteriorConfig c;
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
  Posterior posterior;

  Learned(const PosteriorConfig& config, const LastLayerConfig& last, const std::vector<PlainObservation>& data)
      : posterior(with(config, last), d, K, address) {
    for (const PlainObservation& o : data) observe(posterior, o);
    posterior.train(3);
  }

  const LastLayers& layers() const { return *posterior.last_layers(); }

 private:
  static PosteriorConfig with(PosteriorConfig config, const LastLayerConfig& last) {
    config.last_layer = last;
    config.training.every = 1000;  // not before the tests ask for it
    return config;
  }
};

// φ of one context by plain loops: the particle's hidden units, the context standardised by the first `settled`
// observations, and 1.
Row plain_features(const Learned& l, std::size_t particle, const std::vector<PlainObservation>& data,
                   std::size_t settled, const Row& raw) {
  Row x;
  for (std::size_t j = 0; j < d; ++j) {
    Row column;
    for (std::size_t t = 0; t < settled; ++t) column.push_back(data[t].x[j]);
    x.push_back(plain_standardised(raw[j], plain_scale(column)));
  }
  const std::span<const float> theta = l.posterior.particles().row(particle);  // weights (5,3), biases (5), ...
  Row phi;
  for (std::size_t h = 0; h < 5; ++h) {
    double z = theta[5 * d + h];
    for (std::size_t j = 0; j < d; ++j) z += theta[h * d + j] * x[j];
    phi.push_back(std::max(0.0, z));
  }
  phi.insert(phi.end(), x.begin(), x.end());
  phi.push_back(1.0);
  return phi;
}

std::vector<PlainData> plain_data(const Learned& l, std::size_t particle, const std::vector<PlainObservation>& data,
                                  std::size_t settled) {
  Row rewards;
  for (std::size_t t = 0; t < settled; ++t) rewards.push_back(data[t].reward);
  std::vector<PlainData> tables(K);
  for (const PlainObservation& o : data) {
    tables[o.action].x.push_back(plain_features(l, particle, data, settled, o.x));
    tables[o.action].y.push_back(plain_standardised(o.reward, plain_scale(rewards)));
  }
  return tables;
}

// Sums of n = 60 products in single precision have a relative error below n·2⁻²⁴, which the regression's condition
// amplifies.
double tolerance(const PlainRegression& r) { return plain_condition(r) * 60.0 * std::ldexp(1.0, -24); }

void expect_close(const Eigen::VectorXd& found, const PlainRegression& expected) {
  for (std::size_t f = 0; f < expected.mean.size(); ++f) {
    EXPECT_NEAR(found[static_cast<Eigen::Index>(f)], expected.mean[f],
                tolerance(expected) * std::sqrt(dot(expected.mean, expected.mean)));
  }
}

// Hidden units begin with precision 1 within 1/8 .. 512, contexts with 16 within 1/4000 .. 4096, the constant as units.
std::vector<PlainGroup> first_groups() {
  return {{0, 5, 1.0, 0.125, 512.0}, {5, d, 16.0, 2.5e-4, 4096.0}, {5 + d, 1, 1.0, 0.125, 512.0}};
}

TEST(LastLayers, AreTheRegressionsOfTheRewardsOnTheFeatures) {
  const auto data = linear_data(60, d, K, 7);
  const Learned l(small(3), {.kind = LastLayerKind::exact}, data);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto tables = plain_data(l, i, data, 60);
    std::vector<PlainGroup> groups = first_groups();
    plain_evidence_step(tables, {}, groups);
    std::vector<PlainRegression> regressions;
    for (std::size_t k = 0; k < K; ++k) {
      regressions.emplace_back(tables[k], plain_prior(groups));
      expect_close(l.layers().regression(i, k).mean(), regressions[k]);
    }
    const double variance = plain_shared_noise(tables, regressions, {});
    EXPECT_NEAR(l.layers().noise_variance(i), variance, tolerance(regressions[0]) * variance);
  }
}

TEST(LastLayers, LearnAnObservationAsAFitWithItWould) {
  auto data = linear_data(61, d, K, 9);
  const PlainObservation last = data.back();
  data.pop_back();
  Learned l(small(2), {.kind = LastLayerKind::exact}, data);
  const Eigen::VectorXd before = l.layers().regression(0, 1 - last.action).mean();
  std::vector<float> x;
  EXPECT_FALSE(l.posterior.learn(as_observation(last, x)));
  EXPECT_EQ(l.layers().regression(0, 1 - last.action).mean(), before);  // the other action's
  std::vector<PlainGroup> groups = first_groups();
  plain_evidence_step(plain_data(l, 0, data, 60), {}, groups);
  data.push_back(last);
  const PlainData all = plain_data(l, 0, data, 60)[last.action];
  const PlainRegression expected(all, plain_prior(groups));
  expect_close(l.layers().regression(0, last.action).mean(), expected);
  EXPECT_EQ(l.layers().regression(0, last.action).n(), static_cast<double>(all.y.size()));
}

// A linear model has the same features in every particle, so that particles differ by their draws alone.
TEST(LastLayers, ParticlesAreDrawsFromThePosterior) {
  constexpr int M = 4000;
  const auto data = linear_data(40, d, K, 2);
  const Learned l(small(M, ModelKind::linear), {.kind = LastLayerKind::exact, .posterior_scale = 0.7}, data);
  std::vector<float> x;
  const std::span<const float> context = as_observation(data[3], x).context;
  const std::vector<float> z(l.posterior.standardiser().context(context).begin(),
                             l.posterior.standardiser().context(context).end());
  Network::Workspace w;
  std::vector<float> out(K);
  const BayesLinear& regression = l.layers().regression(0, 1);
  const Eigen::Vector4d phi(z[0], z[1], z[2], 1.0);
  double mean = 0.0, square = 0.0;
  for (std::size_t i = 0; i < M; ++i) {
    l.layers().sampled().values(l.posterior.model().network(), l.posterior.particles(), i, z, w, out);
    const double deviation = out[1] - phi.dot(regression.mean());
    mean += deviation / M;
    square += deviation * deviation / M;
  }
  const double variance = 0.49 * l.layers().noise_variance(0) * regression.leverage(phi);
  EXPECT_NEAR(mean, 0.0, 4.0 * std::sqrt(variance / M));
  EXPECT_NEAR(square, variance, 4.0 * variance * std::sqrt(2.0 / M));
}

TEST(LastLayers, MeansStayNearTheRewardsSeen) {
  const auto data = linear_data(40, d, K, 3);
  const Learned l(small(4), {.kind = LastLayerKind::exact, .posterior_scale = 0.0}, data);
  const RewardScale& scale = l.posterior.standardiser().reward_scale();
  const double room = 0.1 * (scale.high - scale.low);
  const std::vector<float> z = {10.0F, -10.0F, 10.0F};
  Network::Workspace w;
  std::vector<float> out(K);
  bool reached = false;
  for (std::size_t i = 0; i < 4; ++i) {
    l.layers().sampled().values(l.posterior.model().network(), l.posterior.particles(), i, z, w, out);
    for (const float value : out) {
      const double r = l.posterior.standardiser().raw_reward(value);
      EXPECT_GE(r, scale.low - room - 1e-5);
      EXPECT_LE(r, scale.high + room + 1e-5);
      reached = reached || std::abs(r - (scale.high + room)) < 1e-5 || std::abs(r - (scale.low - room)) < 1e-5;
    }
  }
  EXPECT_TRUE(reached) << "no particle leaves the rewards seen, so this shows nothing";
}

// Rewards of 100 and 101: before they have differed by as much as they are large, draws are wide.
TEST(LastLayers, AreUnsureOfTheScaleOfRewardsThatHaveHardlyVaried) {
  auto data = linear_data(20, d, K, 3);
  for (std::size_t i = 0; i < data.size(); ++i) data[i].reward = 100.0 + static_cast<double>(i % 2);
  const Learned narrow(small(2), {.kind = LastLayerKind::exact}, data);
  data.front().reward = -100.0;
  const Learned wide(small(2), {.kind = LastLayerKind::exact}, data);
  const auto spread = [](const Learned& l) {
    return l.layers().sampled().draw_sd(0, 0) * l.posterior.standardiser().reward_scale().sd;
  };
  const double pairs = 0.5 * narrow.layers().regression(0, 0).n(),
               sd = narrow.posterior.standardiser().reward_scale().sd;
  EXPECT_GT(spread(narrow), 0.25 * 32.0 * sd * std::sqrt(1.0 / (1.0 + pairs)));
  EXPECT_LT(spread(wide), 0.25 * wide.posterior.standardiser().reward_scale().sd * 2.0);
}

TEST(LastLayers, TheScalePriorIsAMultipleOfHowLargeRewardsAre) {
  auto data = linear_data(20, d, K, 3);
  for (std::size_t i = 0; i < data.size(); ++i) data[i].reward = 100.0 + static_cast<double>(i % 2);
  const auto variance = [&](double scale_prior) {
    const Learned l(small(2), {.kind = LastLayerKind::exact, .posterior_scale = 1.0, .scale_prior = scale_prior}, data);
    return static_cast<double>(l.layers().sampled().draw_sd(1, 0)) * l.layers().sampled().draw_sd(1, 0);
  };
  // Rewards of 100 and 101 have a standard deviation of 1/2, and their size is 99.5 units above their range: 1/20 of it
  // is 9.95 standard deviations, and all of it far above 32.
  const double none = variance(0.0), little = variance(0.05), thrice = variance(0.15);
  EXPECT_GT(little, none);
  EXPECT_NEAR(thrice - none, 9.0 * (little - none), 1e-5 * thrice);
  const double most = variance(1.0);
  EXPECT_NEAR(most - none, (32.0 / 9.95) * (32.0 / 9.95) * (little - none), 1e-3 * most);
  EXPECT_EQ(variance(4.0), most);
}

// What six particles think of one context, (6,K): one after the other where each is independent, else all at once.
Matrix<float> rewards_of_six(LastLayerConfig config) {
  config.kind = LastLayerKind::exact;
  const Learned l(small(6), config, linear_data(40, d, K, 3));
  const Network& network = l.posterior.model().network();
  const std::vector<float> z = {0.3F, -0.4F, 0.2F};
  Network::Workspace w;
  Matrix<float> out(6, K);
  EXPECT_EQ(l.layers().sampled().independent(), config.mean_shrinkage == 1.0);
  if (!l.layers().sampled().independent()) l.layers().sampled().values(network, l.posterior.particles(), z, w, out);
  for (std::size_t i = 0; i < 6 && l.layers().sampled().independent(); ++i) {
    l.layers().sampled().values(network, l.posterior.particles(), i, z, w, out.row(i));
  }
  return out;
}

// Of the same draws, those above the mean stay, and the others are the mean.
TEST(LastLayers, OptimisticDrawsAreNotBelowTheMean) {
  const auto values = [](double scale, bool optimistic) {
    return rewards_of_six({.posterior_scale = scale, .optimistic = optimistic});
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
  const auto values = [](double scale, double shrinkage) {
    return rewards_of_six({.posterior_scale = scale, .mean_shrinkage = shrinkage});
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
    l.layers().training_noise(own_sd, width, sd);
    return sd;
  };
  EXPECT_TRUE(noise(false, 0.01).empty());
  EXPECT_EQ(noise(true, 7.0), std::vector<float>(3, 7.0F));
  const Learned l(small(3), {.kind = LastLayerKind::exact}, data);
  const std::vector<float> found = noise(true, 1e-6);
  ASSERT_EQ(found.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_FLOAT_EQ(found[i] * found[i], static_cast<float>(l.layers().noise_variance(i)));
  EXPECT_FLOAT_EQ(noise(true, 1e-6, 4.0)[1], 4.0F * found[1]);
}

TEST(LastLayers, NewActionsStartFromThePriorAndTheOthersStay) {
  const auto data = linear_data(40, d, K, 5);
  Learned l(small(3), {.kind = LastLayerKind::exact}, data);
  const Eigen::VectorXd before = l.layers().regression(2, 1).mean();
  l.posterior.add_actions(2);
  EXPECT_EQ(l.layers().regression(2, 1).mean(), before);
  EXPECT_EQ(l.layers().regression(2, 3).mean().norm(), 0.0);
  EXPECT_EQ(l.layers().regression(2, 3).n(), 0.0);
}

}  // namespace
}  // namespace pits::test
