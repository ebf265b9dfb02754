// The GPU's standardisation, evidence, own noise and doubt, on one thread of the CPU, against plain loops in double
// (posterior/plain_rules.h). The CPU's are compared with the same loops in posterior/last_layer_rules_test.cpp.
#include <gtest/gtest.h>

#include "pits/cuda/last_layer/evidence.h"
#include "pits/cuda/last_layer/units.h"
#include "posterior/plain_rules.h"

namespace pits::cuda {
namespace {

using test::plain_scenarios;
using test::PlainData;
using test::PlainLastLayers;
using test::PlainRounds;
using test::PlainScale;
using test::PlainScenario;

constexpr int F = PlainRounds::d + 1, K = PlainRounds::K;
constexpr Alone alone;

RewardUnits units_of(const PlainRounds& rounds, bool standardised) {
  RewardMoments moments{};
  for (std::size_t t = 0; t < rounds.reward.size(); ++t) moments.observe(rounds.reward[t], static_cast<double>(t + 1));
  return refreshed(moments, static_cast<double>(rounds.reward.size()), standardised);
}

LastLayerSettings settings(double kappa) {
  LastLayerSettings s{.config = {.kind = LastLayerKind::exact, .posterior_scale = kappa, .scale_prior = 4.0},
                      .features = F,
                      .units = PlainRounds::d,
                      .groups = 2};
  s.group[0] = {.first = 0, .count = PlainRounds::d, .precision = 1.0, .low = 0.125, .high = 512.0};
  s.group[1] = {.first = PlainRounds::d, .count = 1, .precision = 1.0, .low = 0.125, .high = 512.0};
  return s;
}

// The regressions of all actions, fitted as the kernels do it: sums, a step of the evidence, posteriors.
struct Fitted {
  std::vector<double> inverse[K], moment[K], mean[K];
  std::vector<double> draw = std::vector<double>(F), deviation = draw, precision = {1.0, 1.0};
  RegressionTotals totals[K]{};

  Fitted(const std::vector<PlainData>& data, const LastLayerSettings& s) {
    std::vector<double> place(packed_size(F)), work(4 * F), prior;
    EvidenceTerms terms[K]{};
    for (int a = 0; a < K; ++a) {
      sum(data[a], a);
      if (totals[a].n > 0.0) {
        EXPECT_TRUE(
            find_evidence_terms(alone, s, regression(a), precision.data(), place.data(), work.data(), terms[a]));
      }
    }
    step_precisions(s, terms, K, precision.data());
    for (int f = 0; f < F; ++f) prior.push_back(prior_of(s, precision.data(), f));
    for (int a = 0; a < K; ++a) {
      place = inverse[a];
      EXPECT_TRUE(fit(alone, F, regression(a), prior.data(), place.data(), work.data()));
    }
  }

  Regression regression(int a) {
    return {inverse[a].data(), moment[a].data(), mean[a].data(), draw.data(), deviation.data(), &totals[a]};
  }

 private:
  void sum(const PlainData& data, int a) {
    inverse[a].assign(packed_size(F), 0.0);
    moment[a].assign(F, 0.0);
    mean[a].assign(F, 0.0);
    for (std::size_t t = 0; t < data.y.size(); ++t) {
      for (int i = 0; i < F; ++i) {
        for (int c = 0; c <= i; ++c) inverse[a][packed(i, c)] += data.x[t][i] * data.x[t][c];
        moment[a][i] += data.x[t][i] * data.y[t];
      }
      totals[a].yy += data.y[t] * data.y[t];
      totals[a].n += 1.0;
    }
  }
};

// The least squares of raw rewards far from 0 lose digits to cancellation.
constexpr double tolerance = 1e-8;

TEST(GpuRules, AreThoseOfThePlainLoops) {
  for (const PlainScenario& scenario : plain_scenarios) {
    for (const bool standardised : {false, true}) {
      SCOPED_TRACE(testing::Message() << scenario.name << (standardised ? ", standardised" : ", raw"));
      const PlainRounds rounds(scenario.base, scenario.amplitude);
      const RewardUnits units = units_of(rounds, standardised);
      for (const double kappa : {0.25, 2.0, 0.0}) {
        const LastLayerSettings s = settings(kappa);
        Fitted gpu(rounds.data(standardised), s);
        const PlainLastLayers plain(rounds, standardised, kappa, 4.0);
        for (std::size_t g = 0; g < 2; ++g) EXPECT_NEAR(gpu.precision[g] / plain.groups[g].precision, 1.0, tolerance);
        const double shared = noise_variance(alone, s, gpu.totals, K);
        EXPECT_NEAR(shared / plain.shared, 1.0, tolerance);
        for (int a = 0; a < K; ++a) {
          EXPECT_NEAR(spread(s, units, gpu.totals[a], shared), plain.draw_sd[a], tolerance * (1.0 + plain.draw_sd[a]));
          for (int f = 0; f < F; ++f) EXPECT_NEAR(gpu.mean[a][f], plain.fits[a].mean[f], tolerance);
        }
        EXPECT_NEAR(bounded(units, -1e9), plain.low, tolerance * (1.0 + std::abs(plain.low)));
        EXPECT_NEAR(bounded(units, 1e9), plain.high, tolerance * (1.0 + std::abs(plain.high)));
        EXPECT_EQ(bounded(units, 0.5 * (plain.low + plain.high)), 0.5 * (plain.low + plain.high));
      }
    }
  }
}

TEST(GpuRules, StandardisationIsThatOfTwoPasses) {
  for (const PlainScenario& scenario : plain_scenarios) {
    const PlainRounds rounds(scenario.base, scenario.amplitude);
    const auto n = static_cast<double>(rounds.x.size());
    for (std::size_t j = 0; j < PlainRounds::d; ++j) {
      const PlainScale plain = test::plain_scale(rounds.column(j));
      Moments m{};
      for (std::size_t t = 0; t < rounds.x.size(); ++t) m.observe(rounds.x[t][j], static_cast<double>(t + 1));
      const ColumnUnits units = plain_units(m, n);
      for (const float x : {rounds.x[0][j], rounds.x[7][j], 1e6F, -1e6F}) {
        EXPECT_NEAR(units(x), test::plain_standardised(x, plain), 1e-6 * 10.0);
      }
    }
    const PlainScale plain = rounds.reward_scale();
    const RewardUnits units = units_of(rounds, true), raw = units_of(rounds, false);
    EXPECT_NEAR(units.mean, plain.mean, 1e-10 * plain.size);
    EXPECT_NEAR(units.sd / plain.sd, 1.0, 1e-9);
    EXPECT_NEAR(raw.spread / plain.sd, 1.0, 1e-9);
    EXPECT_EQ(raw.mean, 0.0);
    EXPECT_EQ(raw.sd, 1.0);
    EXPECT_EQ(units.low, plain.low);
    EXPECT_EQ(units.high, plain.high);
    EXPECT_NEAR(units.size / plain.size, 1.0, 1e-9);
  }
}

TEST(GpuRules, AColumnThatNeverVariedKeepsItsScale) {
  RewardMoments moments{};
  for (int t = 0; t < 5; ++t) moments.observe(3.0F, t + 1.0);
  const RewardUnits units = refreshed(moments, 5.0, true);
  EXPECT_EQ(units.mean, 3.0);
  EXPECT_EQ(units.sd, 1.0);
}

}  // namespace
}  // namespace pits::cuda
