// The CPU's standardisation, evidence, own noise and doubt against plain loops in double (plain_rules.h).
#include <gtest/gtest.h>

#include "pits/posterior/posterior.h"
#include "posterior/plain_rules.h"

namespace pits::test {
namespace {

// A linear model on the rounds: its features are the context and 1, whatever the particles.
struct Fitted {
  Posterior posterior;
  const LastLayers& layers = *posterior.last_layers();

  Fitted(const PlainRounds& rounds, bool standardised, const LastLayerConfig& config)
      : posterior({.particles = 2,
                   .model = {.kind = ModelKind::linear},
                   .units = standardised ? UnitsKind::standardised : UnitsKind::raw,
                   .last_layer = config},
                  PlainRounds::d, PlainRounds::K, {.seed = 1}) {
    for (std::size_t t = 0; t < rounds.x.size(); ++t) {
      posterior.observe(
          {.context = rounds.x[t], .action = static_cast<std::uint32_t>(rounds.action[t]), .reward = rounds.reward[t]});
    }
    posterior.train();
  }
};

// Sums of products are in single precision.
constexpr double tolerance = 1e-4;

void expect_near(double value, double expected, const char* what) {
  EXPECT_NEAR(value, expected, tolerance * (1e-3 + std::abs(expected))) << what;
}

TEST(LastLayerRules, AreThoseOfThePlainLoops) {
  for (const PlainScenario& scenario : plain_scenarios) {
    for (const bool standardised : {false, true}) {
      SCOPED_TRACE(testing::Message() << scenario.name << (standardised ? ", standardised" : ", raw"));
      const PlainRounds rounds(scenario.base, scenario.amplitude);
      for (const double kappa : {0.25, 2.0, 0.0}) {
        const Fitted cpu(rounds, standardised,
                         {.kind = LastLayerKind::exact, .posterior_scale = kappa, .scale_prior = 4.0});
        const PlainLastLayers plain(rounds, standardised, kappa, 4.0);
        for (std::size_t g = 0; g < 2; ++g) {
          expect_near(cpu.layers.groups(0)[g].precision, plain.groups[g].precision, "precision");
        }
        expect_near(cpu.layers.noise_variance(0), plain.shared, "shared noise");
        expect_near(cpu.layers.sampled().low, plain.low, "low");
        expect_near(cpu.layers.sampled().high, plain.high, "high");
        for (std::size_t a = 0; a < PlainRounds::K; ++a) {
          expect_near(cpu.layers.sampled().draw_sd(0, a), plain.draw_sd[a], "draw sd");
          for (std::size_t f = 0; f <= PlainRounds::d; ++f) {
            const double mean = cpu.layers.regression(0, a).mean()[static_cast<Eigen::Index>(f)];
            EXPECT_NEAR(mean, plain.fits[a].mean[f], tolerance * (1.0 + std::abs(plain.fits[a].mean[f]))) << "mean";
          }
        }
      }
    }
  }
}

// The scenarios are what their names say, so that every branch of the doubt is compared.
TEST(LastLayerRules, ScenariosCoverTheDoubt) {
  Row doubts, caps;
  for (const PlainScenario& scenario : plain_scenarios) {
    const PlainScale r = PlainRounds(scenario.base, scenario.amplitude).reward_scale();
    doubts.push_back(plain_doubt(4.0, r));
    caps.push_back(32.0 * r.sd);
  }
  EXPECT_EQ(doubts[0], 0.0);
  EXPECT_GT(doubts[1], 0.0);
  EXPECT_LT(doubts[1], caps[1]);
  EXPECT_EQ(doubts[2], caps[2]);
}

TEST(LastLayerRules, TheScaleOfRewardsIsThatOfTwoPasses) {
  for (const PlainScenario& scenario : plain_scenarios) {
    const PlainRounds rounds(scenario.base, scenario.amplitude);
    const Fitted cpu(rounds, true, {.kind = LastLayerKind::exact});
    const RewardScale& scale = cpu.posterior.standardiser().reward_scale();
    const PlainScale plain = rounds.reward_scale();
    EXPECT_NEAR(scale.mean, plain.mean, 1e-10 * plain.size);
    EXPECT_NEAR(scale.sd / plain.sd, 1.0, 1e-9);
    EXPECT_EQ(scale.low, plain.low);
    EXPECT_EQ(scale.high, plain.high);
    EXPECT_NEAR(scale.size / plain.size, 1.0, 1e-12);
  }
}

}  // namespace
}  // namespace pits::test
