// The mixture's rules by scalar loops in double: what a draw thinks of an action, how the models are weighed, and how
// widely they explore. They repeat the constants of docs/regret.md as numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "posterior/observations.h"
#include "posterior/plain_rules.h"

namespace pits::test {
namespace {

constexpr std::size_t M = 2, H = 6, S = 3, K = 4, d = 3;

PosteriorConfig small_mixture(bool optimistic) {
  PosteriorConfig config{.particles = static_cast<int>(M)};
  config.model.kind = ModelKind::mlp;
  config.model.hidden = {static_cast<int>(H)};
  config.units = UnitsKind::standardised;
  config.batch = 16;
  config.training = {.every = 9, .steps = 2};
  config.last_layer.kind = LastLayerKind::mixture;
  config.last_layer.held_draws = static_cast<int>(S);
  config.last_layer.posterior_scale = 0.25;
  config.last_layer.mean_shrinkage = 0.25;
  config.last_layer.scale_prior = 4.0;
  config.last_layer.optimistic = optimistic;
  return config;
}

// Network i's hidden units at x, x and 1; or of the linear model, i = M, x and 1.
Row plain_features(const Posterior& posterior, std::size_t i, const Row& x) {
  Row out;
  for (std::size_t h = 0; i < M && h < H; ++h) {
    const auto theta = posterior.particles().row(i);
    double z = theta[H * d + h];
    for (std::size_t j = 0; j < d; ++j) z += theta[h * d + j] * x[j];
    out.push_back(std::max(0.0, z));
  }
  out.insert(out.end(), x.begin(), x.end());
  out.push_back(1.0);
  return out;
}

double dot(const Row& x, std::span<const float> y) {
  double sum = 0.0;
  for (std::size_t f = 0; f < x.size(); ++f) sum += x[f] * y[f];
  return sum;
}

// The mixture beside a posterior: what follows from its regressions, its networks and the rewards so far.
struct PlainMixture {
  const Posterior& posterior;
  Row rewards{}, of_action = Row(K, 0.0);
  PlainScale scale{};  // of the rewards at the last training
  double lead = 0.0;

  bool trained() const { return posterior.trained_at() > 0; }
  double in_units(double r) const { return trained() ? (r - scale.mean) / scale.sd : r; }
  Row context(std::span<const float> x) const {
    const std::span<const float> z = posterior.standardiser().context(x);
    return {z.begin(), z.end()};
  }
  const FeatureRegressions& set(std::size_t i) const { return posterior.mixture()->regressions(i); }

  // Within the range of the rewards and a tenth of it on both sides.
  double mean(std::size_t i, std::size_t a, const Row& x) const {
    const double room = 0.1 * (scale.high - scale.low);
    const double low = trained() ? in_units(scale.low - room) : 0.0,
                 high = trained() ? in_units(scale.high + room) : 0.0;
    return std::min(high, std::max(low, dot(plain_features(posterior, i, x), set(i).mean().row(a))));
  }
  double shared_noise(std::size_t i) const {
    double a = 2.0, b = 0.3;
    for (std::size_t k = 0; k < K; ++k) {
      a += 0.5 * set(i).n(k);
      b += set(i).misfit(k);
    }
    return b / a;
  }
  double weight(std::size_t i) const {
    const double share = 1.0 / (1.0 + std::exp(3.0 - lead));
    const double linear = share < 1e-3 ? 0.0 : share > 0.999 ? 1.0 : share;
    return i == M ? linear : (1.0 - linear) / M;
  }

  // A reward that is about to be learned.
  void score(const PlainObservation& o) {
    rewards.push_back(static_cast<float>(o.reward));
    of_action[o.action] += 1.0;
    if (!trained()) return;
    const Row x = context(std::vector<float>(o.x.begin(), o.x.end()));
    double network = 0.0;
    for (std::size_t i = 0; i < M; ++i) network += mean(i, o.action, x) / M;
    const double r = in_units(o.reward), linear = mean(M, o.action, x);
    const double gain = 0.5 * ((r - network) * (r - network) - (r - linear) * (r - linear)) / shared_noise(0);
    const double memory = std::min(10000.0, std::max(100.0, 0.5 * static_cast<double>(rewards.size())));
    lead = (1.0 - 1.0 / memory) * lead + std::min(30.0, std::max(-30.0, gain));
  }

  // κσ: the scale of the rewards is in doubt for an action's first 20 rewards, whether they are remembered or not. With
  // fewer than two that are, κ is 1.
  double draw_sd(std::size_t i, std::size_t a) const {
    const double doubt = of_action[a] < 20.0 && trained() ? plain_doubt(4.0, scale) / scale.sd : 0.0;
    const double n = set(i).n(a), shared = shared_noise(i), own = (2.0 * shared + set(i).misfit(a)) / (2.0 + 0.5 * n);
    return (n < 2.0 ? 1.0 : 0.25) * std::sqrt(std::max(shared, own) + doubt * doubt / (1.0 + 0.5 * of_action[a]));
  }

  // m̄ + ρ (m_i − m̄) + κσ max(0, δ·φ)
  double value(std::size_t i, std::size_t s, std::size_t a, const Row& x) const {
    double all = 0.0;
    for (std::size_t l = 0; l <= M; ++l) all += weight(l) * mean(l, a, x);
    const double draw = dot(plain_features(posterior, i, x), set(i).deviation(s).row(a));
    const bool optimistic = posterior.config().last_layer.optimistic;
    return all + 0.25 * (mean(i, a, x) - all) + draw_sd(i, a) * (optimistic ? std::max(0.0, draw) : draw);
  }

  void expect_values(const std::vector<float>& shown, std::size_t t) const {
    const Row x = context(shown);
    const Matrix<float>& values = posterior.all_values(shown);
    for (std::size_t i = 0; i <= M; ++i) {
      EXPECT_NEAR(posterior.row_weights()[i * S], weight(i) / S, 1e-5) << "weight " << i << " at " << t;
      for (std::size_t s = 0; s < S && weight(i) > 0.0; ++s) {
        for (std::size_t a = 0; a < K; ++a) {
          const double expected = value(i, s, a, x);
          EXPECT_NEAR(values(i * S + s, a), expected, 1e-4 * (1.0 + std::abs(expected))) << i << s << a << " at " << t;
        }
      }
    }
    expect_means(shown, x, t);
  }

  void expect_means(const std::vector<float>& shown, const Row& x, std::size_t t) const {
    Row means(K);
    posterior.mean_values(shown, means);
    for (std::size_t a = 0; a < K; ++a) {
      double all = 0.0;
      for (std::size_t i = 0; i <= M; ++i) all += weight(i) * mean(i, a, x);
      EXPECT_NEAR(means[a], all, 1e-4 * (1.0 + std::abs(all))) << a << " at " << t;
    }
  }
};

// Rewards of sd about 1 around `base`: far from 0 their scale is in doubt. Action 3 is rare. `capacity` of the history.
void expect_plain_mixture(double base, bool optimistic, bool linear_truth, int capacity = 0) {
  PosteriorConfig config = small_mixture(optimistic);
  config.memory.capacity = capacity;
  Posterior posterior(config, d, K, {.seed = 31});
  PlainMixture plain{posterior};
  std::size_t t = 0;
  for (PlainObservation& o : linear_data(140, d, K, 32)) {
    if (o.action == 3 && t % 3 != 0) o.action = 0;
    if (!linear_truth) o.reward = o.x[0] * o.x[1] + std::abs(o.x[2]);
    o.reward = static_cast<float>(base + o.reward);
    plain.score(o);
    const std::vector<float> x(o.x.begin(), o.x.end());
    if (posterior.learn(
            {.context = x, .action = static_cast<std::uint32_t>(o.action), .reward = static_cast<float>(o.reward)})) {
      plain.scale = plain_scale(plain.rewards);
    }
    if (++t % 5 == 0) plain.expect_values(x, t);
  }
  EXPECT_EQ(plain.lead > 0.0, linear_truth);
}

TEST(Mixture, IsThePlainLoop) {
  for (const double base : {0.0, 40.0}) {
    for (const bool optimistic : {true, false}) expect_plain_mixture(base, optimistic, true);
  }
  expect_plain_mixture(0.0, true, false);
}

// Rewards that are forgotten do not bring the doubt back.
TEST(Mixture, IsThePlainLoopWhereRewardsAreForgotten) { expect_plain_mixture(40.0, true, true, 40); }

TEST(MixtureRules, TheLeadRemembersHalfOfTheRewards) {
  EXPECT_DOUBLE_EQ(next_lead(2.0, 0.3, 0.1, 0.5, 10.0), 0.99 * 2.0 + 0.5 * (0.09 - 0.01) / 0.5);
  EXPECT_DOUBLE_EQ(next_lead(2.0, 0.0, 0.0, 1.0, 1000.0), (1.0 - 1.0 / 500.0) * 2.0);
  EXPECT_DOUBLE_EQ(next_lead(2.0, 0.0, 0.0, 1.0, 1e6), (1.0 - 1e-4) * 2.0);
  EXPECT_DOUBLE_EQ(next_lead(0.0, 100.0, 0.0, 1.0, 10.0), 30.0);
  EXPECT_DOUBLE_EQ(next_lead(0.0, 0.0, -100.0, 1.0, 10.0), -30.0);
}

TEST(MixtureRules, ModelsOfLittleWeightWeighNothing) {
  EXPECT_DOUBLE_EQ(linear_weight(3.0), 0.5);
  EXPECT_DOUBLE_EQ(linear_weight(0.0), 1.0 / (1.0 + std::exp(3.0)));
  EXPECT_EQ(linear_weight(3.0 - std::log(998.0)), 1.0 / (1.0 + std::exp(std::log(998.0))));
  EXPECT_EQ(linear_weight(3.0 - std::log(1000.0)), 0.0);
  EXPECT_EQ(linear_weight(3.0 + std::log(1000.0)), 1.0);
}

TEST(MixtureRules, UnitsAreDueAfterAQuarterMoreOrAQuarterOfTheCapacity) {
  const auto due = [](std::uint64_t seen, std::uint64_t at, int capacity) {
    return units_are_due(false, seen, at, capacity);
  };
  for (const int capacity : {0, 10'000}) {
    EXPECT_FALSE(due(1'249, 1'000, capacity));
    EXPECT_TRUE(due(1'250, 1'000, capacity));
    EXPECT_FALSE(due(12'499, 10'000, capacity));
  }
  EXPECT_FALSE(due(1'002'499, 1'000'000, 10'000));
  EXPECT_TRUE(due(1'002'500, 1'000'000, 10'000));
  EXPECT_FALSE(due(1'249'999, 1'000'000, 0));
  EXPECT_TRUE(due(101, 100, 3));  // one observation is more than a quarter of three
  EXPECT_TRUE(units_are_due(true, std::uint64_t{1'001}, std::uint64_t{1'000}, 0));
}

TEST(MixtureRules, TheScalePriorFadesAndEndsAfterTwentyRewards) {
  const auto sd = [](double kappa, double doubt, double n, double ever) {
    return mixture_draw_sd(kappa, doubt, n, ever, 0.7);
  };
  for (const double n : {2.0, 5.0, 19.0}) {
    EXPECT_DOUBLE_EQ(sd(0.25, 3.0, n, n), 0.25 * std::sqrt(0.7 + 9.0 / (1.0 + 0.5 * n)));
    EXPECT_DOUBLE_EQ(sd(0.25, 3.0, n, 20.0), 0.25 * std::sqrt(0.7));  // n of them remembered
  }
  EXPECT_DOUBLE_EQ(sd(0.25, 3.0, 1e4, 1e4), 0.25 * std::sqrt(0.7));
  EXPECT_DOUBLE_EQ(sd(0.25, 3.0, 1.0, 1.0), std::sqrt(0.7 + 6.0));  // hardly tried: κ = 1
  EXPECT_DOUBLE_EQ(sd(0.25, 3.0, 1.0, 50.0), std::sqrt(0.7));
  EXPECT_DOUBLE_EQ(sd(2.0, 0.0, 0.0, 0.0), 2.0 * std::sqrt(0.7));
  EXPECT_EQ(sd(0.0, 0.0, 0.0, 0.0), 0.0);
}

}  // namespace
}  // namespace pits::test
