// π-TS with a linear model beside its networks, and a memory that ends where the world has changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "agent/play.h"
#include "experiment/expect_error.h"
#include "pits/agent/presets.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 3, K = 3;

PiTsConfig small_default() {
  PiTsConfig c = pi_ts_preset("pi-ts", "auto");
  c.posterior.model.hidden = {8};
  c.posterior.batch = 16;
  c.posterior.training.steps = 5;
  return c;
}

std::vector<float> context(std::uint64_t t, std::size_t size = d) {
  Stream stream({.seed = 1, .purpose = Purpose::environment_context, .step = static_cast<std::uint32_t>(t)});
  std::vector<float> x(size);
  for (float& v : x) v = static_cast<float>(stream.normal());
  return x;
}

float noise(std::uint64_t t) {
  return static_cast<float>(
      0.2 *
      Stream({.seed = 1, .purpose = Purpose::environment_reward, .step = static_cast<std::uint32_t>(t)}).normal());
}

std::vector<float> lines(const std::vector<float>& x) { return {x[0], -x[0] + 0.5F * x[1], 0.3F + x[2]}; }
std::vector<float> turned(const std::vector<float>& x) { return {-x[0], x[0] - 0.5F * x[1], 0.3F - x[2]}; }
std::vector<float> bumps(const std::vector<float>& x) {
  return {2.0F * std::abs(x[0]) - 1.5F, 1.5F - 2.0F * std::abs(x[0]), std::abs(x[1]) - std::abs(x[2])};
}

template <class Means>
void play(Agent& agent, std::uint64_t from, std::uint64_t to, const Means& means, std::size_t size = d) {
  for (std::uint64_t t = from; t < to; ++t) {
    const std::vector<float> x = context(t, size);
    const Action a = agent.choose({.x = x, .id = t}).action;
    const Feedback event{.x = x, .action = a, .reward = means(x)[a] + noise(t), .id = t};
    agent.learn({&event, 1});
  }
}

// Twenty numbers in a context, coefficients of sum of squares about 1, and noise of sd 0.2; the preset as it is. With
// few numbers the networks, whose last layers see the context too, predict lines as well.
struct Lines {
  static constexpr std::size_t context_size = 20, actions = 4;
  std::vector<float> beta;
  explicit Lines(std::uint64_t seed) : beta(context_size * actions) {
    Stream stream({.seed = seed, .purpose = Purpose::environment_setup});
    stream.fill_normal(beta, 1.0F / std::sqrt(static_cast<float>(context_size)));
  }
  std::vector<float> operator()(const std::vector<float>& x) const {
    std::vector<float> means(actions);
    for (std::size_t a = 0; a < actions; ++a) {
      means[a] = std::inner_product(x.begin(), x.end(), beta.begin() + static_cast<std::ptrdiff_t>(a * x.size()), 0.0F);
    }
    return means;
  }
};

// Regret against that of actions at random.
template <class Means>
double relative_regret(const Agent& agent, const Means& means_of, std::size_t context_size = d) {
  double regret = 0.0, of_chance = 0.0;
  for (std::uint64_t t = 2000; t < 2300; ++t) {
    const std::vector<float> x = context(t, context_size), means = means_of(x);
    const float best = *std::ranges::max_element(means);
    regret += best - means[agent.choose({.x = x, .id = t}).action];
    of_chance += best - std::accumulate(means.begin(), means.end(), 0.0F) / static_cast<float>(means.size());
  }
  return regret / of_chance;
}

TEST(PiTsAdaptive, TheLinearModelDecidesWhereRewardsAreLines) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Lines wide(seed);
    PiTs agent(pi_ts_preset("pi-ts", "auto"),
               {.context_size = Lines::context_size, .actions = Lines::actions, .seed = seed});
    play(agent, 0, 500, wide, Lines::context_size);
    EXPECT_GT(agent.posterior().mixture()->linear_weight(), 0.5) << "seed " << seed;
    EXPECT_LT(relative_regret(agent, wide, Lines::context_size), 0.05) << "seed " << seed;
  }
}

TEST(PiTsAdaptive, TheNetworksDecideWhereRewardsAreNoLines) {
  PiTsConfig c = small_default();
  c.posterior.model.hidden = {32};
  c.posterior.training.steps = 20;
  PiTs agent(c, {.context_size = d, .actions = K, .seed = 8});
  play(agent, 0, 500, bumps);
  EXPECT_LT(agent.posterior().mixture()->linear_weight(), 0.5);
}

// Weights are those of 20 draws of each of five networks and of the linear model.
TEST(PiTsAdaptive, WeightsOfTheDrawsSumToOne) {
  PiTs agent(small_default(), {.context_size = d, .actions = K, .seed = 8});
  std::uint64_t from = 0;
  for (const std::uint64_t t : {0U, 10U, 40U, 200U}) {
    play(agent, from, t, lines);
    from = t;
    const Mixture& mixture = *agent.posterior().mixture();
    const std::span<const double> weights = mixture.weights();
    ASSERT_EQ(weights.size(), 120U);
    EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1.0, 1e-12);
    EXPECT_NEAR(std::accumulate(weights.begin() + 100, weights.end(), 0.0), mixture.linear_weight(), 1e-12);
  }
}

// Four standard errors of a share of 4,000 decisions; the probability is exact.
TEST(PiTsAdaptive, PropensitiesAreFrequenciesOfDecisions) {
  PiTs agent(small_default(), {.context_size = d, .actions = K, .seed = 8});
  std::uint64_t from = 0;
  bool in_doubt = false;
  for (const std::uint64_t t : {12U, 30U, 100U}) {
    play(agent, from, t, lines);
    from = t;
    for (const std::vector<float>& x : {std::vector<float>{0.1F, 0.2F, -0.2F}, {-0.1F, 0.0F, -0.1F}}) {
      const std::vector<float> p = probabilities(agent, {.x = x, .id = 1 << 20});
      EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1.0, 1e-6);
      std::vector<double> counts(K, 0.0);
      constexpr double n = 4000.0;
      for (std::uint64_t i = 0; i < 4000; ++i) {
        const Decision decision = agent.choose({.x = x, .id = (1 << 20) + i, .want_propensity = i % 100 == 0});
        counts[decision.action] += 1.0 / n;
        if (i % 100 == 0) {
          EXPECT_EQ(decision.propensity, p[decision.action]);
        }
      }
      for (std::size_t a = 0; a < K; ++a) {
        EXPECT_LE(std::abs(counts[a] - p[a]), 4.0 * std::sqrt(p[a] * (1.0 - p[a]) / n) + 1e-6);
        in_doubt = in_doubt || (p[a] > 0.05F && p[a] < 0.95F);
      }
    }
  }
  EXPECT_TRUE(in_doubt);
}

// All lines change their signs at t = 600. Of what came before, less than the longest memory is kept.
TEST(PiTsAdaptive, ForgetsWhenTheWorldTurns) {
  PiTs agent(small_default(), {.context_size = d, .actions = K, .seed = 8});
  play(agent, 0, 600, lines);
  EXPECT_EQ(agent.posterior().history().forgotten(), 0U);
  play(agent, 600, 1000, turned);
  EXPECT_EQ(agent.posterior().history().seen(), 1000U);
  EXPECT_GT(agent.posterior().history().forgotten(), 400U);
  EXPECT_LT(relative_regret(agent, turned), 0.05);
}

TEST(PiTsAdaptive, SettingsThatDoNotFitAreRefused) {
  const auto message = [](const std::string& settings) {
    return message_of([&] {
      find_recipe(agent_catalogue(), "agent", parse_spec("pi-ts:" + settings))->make({.context_size = d, .actions = K});
    });
  };
  expect_mentions(message("exact,adaptive=true"), {"adaptive=true", "last_layer=mixture"});
  expect_mentions(message("auto,last_layer=exact"), {"adaptive=true", "last_layer=mixture"});
  expect_mentions(message("auto,model=linear"), {"last_layer=mixture", "hidden layers", "model=mlp"});
  expect_mentions(message("auto,units=raw"), {"last_layer=mixture", "units=standardised"});
  expect_mentions(message("auto,discount=0.9"), {"last_layer=mixture", "discount must be 1"});
  expect_mentions(message("auto,draws=per-decision"), {"last_layer=mixture", "draws=held"});
}

}  // namespace
}  // namespace pits::test
