// The arithmetic of the GPU's units and last layers, on threads of the CPU.
#include "cuda/layer_errors.h"
#include "pits/cuda/last_layer/units.h"

namespace pits::cuda {
namespace {

TEST(AloneLayers, AFitAndLaterObservationsAreThoseOfTheDoubleReference) {
  for (const Case& c : shapes()) {
    Setting s(c, 3 * c.d + c.K);
    add_signal(c, s);
    const std::size_t fitted = c.seen - later;
    const CpuLayers cpu(c, s, 0, fitted);
    AloneLayers alone(cpu, settings_of(c));
    alone.fit(fitted);
    const Errors fit = against_plain(alone.numbers, 0, cpu, PlainLayers(cpu, fitted, fitted));
    for (std::size_t t = fitted; t < c.seen; ++t) alone.observe(t);
    const Errors after = against_plain(alone.numbers, 0, cpu, PlainLayers(cpu, fitted, c.seen));
    expect_small(fit, c.name);
    expect_small(after, c.name + ", later");
    RecordProperty(c.name, fit.text() + "; later " + after.text());
  }
}

double alone_agreed(AloneLayers& alone, const CpuLayers& cpu, const LastLayerSettings& s, std::size_t t,
                    std::size_t action) {
  const std::size_t M = cpu.particles(), K = cpu.layers().sampled().actions;
  double sum = 0.0;
  for (std::size_t i = 0; i < M; ++i) {
    sum += bounded_mean(Alone(), s, reward_units(cpu), alone.regression(i * K + action), alone.features(i, t).data());
  }
  return sum / static_cast<double>(M);
}

// What decisions see: clamped means, own noise, the doubt of the reward scale.
TEST(AloneLayers, ValuesAreTheCpus) {
  for (Case c : shapes()) {
    for (const float scale : {1.0F, 0.05F}) {  // rewards that differ by less than they are large leave a doubt
      c.config.posterior.last_layer.optimistic = scale < 1.0F;
      c.config.posterior.last_layer.mean_shrinkage = scale < 1.0F ? 0.3 : 1.0;
      Setting s(c, 3 * c.d + c.K);
      add_signal(c, s);
      for (float& r : s.rewards) r = 3.0F + scale * (r - 3.0F);
      const std::size_t fitted = c.seen - later;
      CpuLayers cpu(c, s, 0, fitted);
      const Settings settings = settings_of(c);
      AloneLayers alone(cpu, settings);
      alone.fit(fitted);
      for (std::size_t t = fitted; t < c.seen; ++t) {
        Network::Workspace w;
        const auto view = cpu.posterior.standardiser().context(cpu.observation(t).context);
        const std::vector<float> x(view.begin(), view.end());
        const SampledHeads& drawn = cpu.layers().sampled();
        const Network& network = cpu.posterior.model().network();
        Matrix<float> expected;
        drawn.values(network, cpu.posterior.particles(), x, w, expected);
        for (std::size_t i = 0; i < cpu.particles(); ++i) {
          const std::vector<float> phi = alone.features(i, t);
          const RegressionTotals* totals = alone.numbers.totals.data() + i * c.K;
          const double shared = noise_variance(Alone(), settings.last_layer, totals, static_cast<int>(c.K));
          EXPECT_NEAR(shared / cpu.layers().noise_variance(i), 1.0, 1e-4) << c.name;
          for (std::size_t a = 0; a < c.K; ++a) {
            const double value =
                action_value(Alone(), settings.last_layer, reward_units(cpu), alone.regression(i * c.K + a), phi.data(),
                             alone_agreed(alone, cpu, settings.last_layer, t, a), shared);
            EXPECT_NEAR(value, expected(i, a), 1e-4 * (1.0 + std::abs(expected(i, a)))) << c.name;
          }
        }
        cpu.observe(t);
        alone.observe(t);
      }
    }
  }
}

// Found in the units of a fit, used in others: of rewards that have come to differ three times as much.
TEST(AloneLayers, TheNoiseOfATrainingIsTheCpus) {
  for (const Case& c : shapes()) {
    if (!c.config.posterior.last_layer.train_noise) continue;
    Setting s(c, 3 * c.d + c.K);
    add_signal(c, s);
    const std::size_t fitted = c.seen - later;
    const CpuLayers cpu(c, s, 0, fitted);
    const Settings settings = settings_of(c);
    AloneLayers alone(cpu, settings);
    alone.fit(fitted);
    const RewardUnits then = reward_units(cpu);
    RewardUnits now = then;
    now.sd *= 3.0;
    for (const double own_sd : {1e-6, 0.05, 50.0}) {
      std::vector<float> expected;
      cpu.layers().training_noise(own_sd, then.sd / now.sd, expected);
      for (std::size_t i = 0; i < cpu.particles(); ++i) {
        const RegressionTotals* totals = alone.numbers.totals.data() + i * c.K;
        const double raw =
            in_raw_units(noise_variance(Alone(), settings.last_layer, totals, static_cast<int>(c.K)), then);
        const float precision = training_precision(static_cast<float>(1.0 / (own_sd * own_sd)), raw, now);
        EXPECT_NEAR(std::sqrt(precision) * expected[i], 1.0, 1e-4) << c.name;
      }
    }
  }
}

TEST(AloneUnits, AreTheCpus) {
  for (const UnitsKind kind : {UnitsKind::raw, UnitsKind::standardised}) {
    constexpr std::size_t d = 3;
    Standardiser units(kind, d);
    RewardMoments rewards{};
    std::vector<Moments> columns(d);
    Stream stream({.seed = 12});
    for (int t = 1; t <= 200; ++t) {
      const std::vector<float> x = {static_cast<float>(1e4 + stream.normal()), 7.0F, t == 1 ? 100.0F : 0.0F};
      const auto r = static_cast<float>(5.0 + 0.1 * stream.normal());
      units.observe(x, r);
      units.refresh(History(1, 1));
      rewards.observe(r, t);
      const RewardUnits u = refreshed(rewards, t, kind == UnitsKind::standardised);
      const RewardScale& scale = units.reward_scale();
      EXPECT_EQ(u.low, scale.low);
      EXPECT_EQ(u.high, scale.high);
      EXPECT_NEAR(u.size, scale.size, 1e-12 * scale.size);
      EXPECT_EQ(in_units(r, u), static_cast<float>(units.reward(r)));
      for (std::size_t j = 0; kind == UnitsKind::standardised && j < d; ++j) {
        columns[j].observe(x[j], t);
        EXPECT_EQ(plain_units(columns[j], t)(x[j]), units.context(x)[j]);
      }
    }
  }
}

}  // namespace
}  // namespace pits::cuda
