#include <gtest/gtest.h>

#include "cuda/plain_layers.h"

namespace pits::cuda {
namespace {

constexpr std::size_t later = 30;  // observations after the fit

// Shapes whose sums take one pass and several, whose triangles fit into shared memory and do not (F = 227), with and
// without contexts among the features, of no, one and two hidden layers.
std::vector<Case> shapes() {
  std::vector<Case> list;
  const auto add = [&](std::string name, std::size_t d, std::size_t K, std::size_t G, std::vector<int> hidden,
                       std::size_t seen) -> PiTsConfig& {
    PiTsConfig c = pi_ts_preset("auto");
    c.posterior.particles = 3;
    c.posterior.model.hidden = std::move(hidden);
    list.push_back({std::move(name), c, d, K, G, seen + later});
    return list.back().config;
  };
  add("statlog's", 9, 7, 3, {50}, 400);
  add("fast", 31, 8, 2, {32}, 150).last_layer.linear_inputs = 32;
  add("long contexts", 130, 3, 2, {20}, 120);
  add("few observations", 6, 9, 2, {12}, 5);
  add("tanh, two layers", 12, 4, 2, {16, 6}, 200).posterior.model.activation = Activation::tanh;
  add("linear", 11, 5, 2, {50}, 200).posterior.model.kind = ModelKind::linear;
  add("wide", 5, 2, 2, {130}, 300);
  add("wider", 6, 3, 1, {220}, 300);
  add("raw", 9, 4, 2, {20}, 200).posterior.units = UnitsKind::raw;
  add("the last 64", 9, 4, 2, {20}, 200).posterior.capacity = 64;
  add("exploration of none, noise", 9, 4, 2, {20}, 200).last_layer = {
      .kind = LastLayerKind::exact, .exploration = 0.0, .noise_shape = 1.0, .noise_scale = 2.0};
  return list;
}

Settings settings_of(const Case& c) {
  return card_settings(c.config, {c.d, c.K, seed, 0}, c.seen, CardPrecision::float32);
}

// ‖a − b‖/‖b‖, 0 where both are 0.
double relative(std::span<const double> a, const Eigen::VectorXd& b) {
  const Eigen::Map<const Eigen::VectorXd> map(a.data(), static_cast<Eigen::Index>(a.size()));
  return (map - b).norm() / std::max(b.norm(), 1e-300);
}

struct Errors {
  double mean = 0.0, deviation = 0.0, noise = 0.0, precision = 0.0;

  void raise(const Errors& e) {
    mean = std::max(mean, e.mean);
    deviation = std::max(deviation, e.deviation);
    noise = std::max(noise, e.noise);
    precision = std::max(precision, e.precision);
  }
  std::string text() const {
    return fmt::format("mean {:.1e} deviation {:.1e} noise {:.1e} precision {:.1e}", mean, deviation, noise, precision);
  }
};

double noise_of(const CpuLayers& cpu, std::span<const double> n, std::span<const double> misfit) {
  double a = cpu.c.config.last_layer.noise_shape, b = cpu.c.config.last_layer.noise_scale;
  for (std::size_t k = 0; k < n.size(); ++k) {
    a += 0.5 * n[k];
    b += misfit[k];
  }
  return b / a;
}

// The largest errors of realization `place` of the numbers against the plain ones. A mean that explains nothing, of an
// action without observations, is 0 in both.
Errors against_plain(const LastLayerNumbers& numbers, std::size_t place, const CpuLayers& cpu,
                     const PlainLayers& plain) {
  Errors e;
  const std::size_t M = cpu.particles(), K = cpu.c.K, F = static_cast<std::size_t>(plain.deviations.front().size());
  const std::size_t groups = plain.groups.front().size();
  for (std::size_t i = 0; i < M; ++i) {
    std::vector<double> n, misfit, plain_n, plain_misfit;
    for (std::size_t a = 0; a < K; ++a) {
      const std::size_t local = i * K + a, r = place * M * K + local;
      const BayesLinear& regression = plain.regressions[local];
      e.mean = std::max(e.mean, relative(std::span(numbers.mean).subspan(r * F, F), regression.mean()));
      e.deviation =
          std::max(e.deviation, relative(std::span(numbers.deviation).subspan(r * F, F), plain.deviations[local]));
      n.push_back(numbers.totals[r].n);
      misfit.push_back(numbers.totals[r].misfit);
      plain_n.push_back(regression.n());
      plain_misfit.push_back(regression.misfit());
    }
    EXPECT_EQ(n, plain_n) << cpu.c.name;
    e.noise = std::max(e.noise, std::abs(noise_of(cpu, n, misfit) / noise_of(cpu, plain_n, plain_misfit) - 1.0));
    for (std::size_t q = 0; q < groups; ++q) {
      const double precision = numbers.precision[(place * M + i) * groups + q];
      e.precision = std::max(e.precision, std::abs(precision / plain.groups[i][q].precision - 1.0));
    }
  }
  return e;
}

// Features in float32, whose sums run in another order than the CPU's: a relative 1e-7 of a feature; seen are 6e-7 of a
// mean.
constexpr double tolerance = 1e-5;

void expect_small(const Errors& e, const std::string& name) {
  EXPECT_LT(e.mean, tolerance) << name;
  EXPECT_LT(e.deviation, tolerance) << name;
  EXPECT_LT(e.noise, tolerance) << name;
  EXPECT_LT(e.precision, tolerance) << name;
}

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

RewardUnits reward_units(const CpuLayers& cpu) {
  const RewardScale& scale = cpu.posterior.units().reward_scale();
  const bool raw = cpu.c.config.posterior.units == UnitsKind::raw;
  return {raw ? 0.0 : scale.mean, raw ? 1.0 : scale.sd, scale.low, scale.high, scale.size};
}

// What decisions see: clamped means, own noise, the doubt of the reward scale.
TEST(AloneLayers, ValuesAreTheCpus) {
  for (const Case& c : shapes()) {
    for (const float scale : {1.0F, 0.05F}) {  // rewards that differ by less than they are large leave a doubt
      Setting s(c, 3 * c.d + c.K);
      add_signal(c, s);
      for (float& r : s.rewards) r = 3.0F + scale * (r - 3.0F);
      const std::size_t fitted = c.seen - later;
      CpuLayers cpu(c, s, 0, fitted);
      const Settings settings = settings_of(c);
      AloneLayers alone(cpu, settings);
      alone.fit(fitted);
      for (std::size_t t = fitted; t < c.seen; ++t) {
        std::vector<float> expected(c.K);
        Network::Workspace w;
        const auto view = cpu.posterior.units().context(cpu.observation(t).context);
        const std::vector<float> x(view.begin(), view.end());
        for (std::size_t i = 0; i < cpu.particles(); ++i) {
          cpu.layers.drawn().values(cpu.posterior.model().network(), cpu.posterior.particles(), i, x, w, expected);
          const std::vector<float> phi = alone.features(i, t);
          const RegressionTotals* totals = alone.numbers.totals.data() + i * c.K;
          const double shared = noise_variance(Alone(), settings.last_layer, totals, static_cast<int>(c.K));
          EXPECT_NEAR(shared / cpu.layers.noise_variance(i), 1.0, 1e-4) << c.name;
          for (std::size_t a = 0; a < c.K; ++a) {
            const double value = action_value(Alone(), settings.last_layer, reward_units(cpu),
                                              alone.regression(i * c.K + a), phi.data(), shared);
            EXPECT_NEAR(value, expected[a], 1e-4 * (1.0 + std::abs(expected[a]))) << c.name;
          }
        }
        cpu.observe(t);
        alone.observe(t);
      }
    }
  }
}

TEST(AloneUnits, AreTheCpus) {
  for (const UnitsKind kind : {UnitsKind::raw, UnitsKind::standardised}) {
    constexpr std::size_t d = 3;
    Units units(kind, d);
    RewardMoments rewards{};
    std::vector<Moments> columns(d);
    Stream stream({.seed = 12});
    for (int t = 1; t <= 200; ++t) {
      const std::vector<float> x = {static_cast<float>(1e4 + stream.normal()), 7.0F, t == 1 ? 100.0F : 0.0F};
      const auto r = static_cast<float>(5.0 + 0.1 * stream.normal());
      units.observe(x, r);
      units.settle();
      rewards.observe(r, t);
      const RewardUnits u = settled(rewards, t, kind == UnitsKind::standardised);
      const RewardScale& scale = units.reward_scale();
      EXPECT_EQ(u.low, scale.low);
      EXPECT_EQ(u.high, scale.high);
      EXPECT_NEAR(u.size, scale.size, 1e-12 * scale.size);
      EXPECT_EQ(in_units(r, u), static_cast<float>(units.reward(r)));
      for (std::size_t j = 0; kind == UnitsKind::standardised && j < d; ++j) {
        columns[j].observe(x[j], t);
        const ColumnUnits c{columns[j].mean, 1.0 / scale_of(columns[j].variance(t))};
        EXPECT_EQ(in_units(x[j], c), units.context(x)[j]);
      }
    }
  }
}

std::unique_ptr<Lockstep> fitted_on_card(const Case& c, const Setting& s, const std::vector<CpuLayers>& cpu,
                                         std::size_t fitted) {
  auto lockstep = on_card(c, s, CardPrecision::float32);
  std::vector<float> theta;
  for (const CpuLayers& one : cpu) {
    const auto particles = one.posterior.particles().flat();
    theta.insert(theta.end(), particles.begin(), particles.end());
  }
  lockstep->set_particles(theta);
  lockstep->fit(fitted);
  return lockstep;
}

std::vector<CpuLayers> all_realizations(const Case& c, const Setting& s, std::size_t fitted) {
  std::vector<CpuLayers> list;
  for (std::size_t g = 0; g < c.G; ++g) list.emplace_back(c, s, g, fitted);
  return list;
}

TEST(CardUnits, AreTheCpus) {
  NEEDS_CARD();
  for (const Case& c : shapes()) {
    Setting s(c, 3 * c.d + c.K);
    add_signal(c, s);
    for (std::size_t round = 0; round < c.G * c.seen; ++round) s.contexts[round * c.d] = 7.0F;  // never varies
    const std::size_t fitted = c.seen - later;
    const std::vector<CpuLayers> cpu = all_realizations(c, s, fitted);
    const UnitNumbers card = fitted_on_card(c, s, cpu, fitted)->units();
    const bool raw = c.config.posterior.units == UnitsKind::raw;
    EXPECT_EQ(card.contexts.empty(), raw);
    for (std::size_t g = 0; g < c.G; ++g) {
      const RewardUnits expected = reward_units(cpu[g]), u = card.rewards[g];
      EXPECT_NEAR(u.mean, expected.mean, 1e-12 * (1.0 + std::abs(expected.mean))) << c.name;
      EXPECT_NEAR(u.sd, expected.sd, 1e-12 * expected.sd) << c.name;
      EXPECT_NEAR(u.size, expected.size, 1e-12 * expected.size) << c.name;
      EXPECT_EQ(u.low, expected.low) << c.name;
      EXPECT_EQ(u.high, expected.high) << c.name;
      for (std::size_t t = 0; t < c.seen; ++t) {
        const Observation o = cpu[g].observation(t);
        const std::size_t round = g * c.seen + t;
        const auto x = cpu[g].posterior.units().context(o.context);
        for (std::size_t j = 0; !raw && j < c.d; ++j) {
          ASSERT_NEAR(card.contexts[round * c.d + j], x[j], 1e-6F * (1.0F + std::abs(x[j]))) << c.name;
        }
        if (t >= fitted) continue;
        const auto reward = static_cast<float>(cpu[g].posterior.units().reward(o.reward));
        ASSERT_NEAR(card.gained[round], reward, 1e-6F * (1.0F + std::abs(reward))) << c.name;
      }
    }
  }
}

TEST(CardLastLayers, AFitAndLaterObservationsAreThoseOfTheDoubleReference) {
  NEEDS_CARD();
  for (const Case& c : shapes()) {
    Setting s(c, 3 * c.d + c.K);
    add_signal(c, s);
    const std::size_t fitted = c.seen - later;
    const std::vector<CpuLayers> cpu = all_realizations(c, s, fitted);
    const auto lockstep = fitted_on_card(c, s, cpu, fitted);
    const LastLayerNumbers fit = lockstep->last_layers();
    lockstep->observe(fitted, c.seen);
    const LastLayerNumbers after = lockstep->last_layers();
    EXPECT_EQ(lockstep->singular(), std::vector<std::int32_t>(c.G)) << c.name;
    Errors of_fit, of_later;
    for (std::size_t g = 0; g < c.G; ++g) {
      of_fit.raise(against_plain(fit, g, cpu[g], PlainLayers(cpu[g], fitted, fitted)));
      of_later.raise(against_plain(after, g, cpu[g], PlainLayers(cpu[g], fitted, c.seen)));
    }
    expect_small(of_fit, c.name);
    expect_small(of_later, c.name + ", later");
    RecordProperty(c.name, of_fit.text() + "; later " + of_later.text());
  }
}

// With particles that hardly move, the card and the CPU see the same features: every decision is known but for values
// that are equal up to rounding, and one that falls differently changes all that follow in its realization.
TEST(CardLastLayers, DecisionsAreTheCpus) {
  NEEDS_CARD();
  for (const double floor : {0.0, 0.2}) {
    Case c{"decisions", pi_ts_preset("fast"), 12, 5, 6, 300};
    c.config.posterior.optimizer.step = 1e-12;
    c.config.floor = floor;
    Setting s(c, 17);
    add_signal(c, s);
    Lockstep lockstep(settings_of(c), s.realization, c.seen);
    for (std::size_t g = 0; g < c.G; ++g) {
      lockstep.set_rounds(g, std::span(s.contexts).subspan(g * c.seen * c.d, c.seen * c.d),
                          std::span(s.rewards).subspan(g * c.seen * c.K, c.seen * c.K));
    }
    while (lockstep.advance() > 0) {
    }
    const std::vector<std::int32_t> actions = lockstep.actions();
    std::size_t left = 0;  // realizations that part
    for (std::size_t g = 0; g < c.G; ++g) {
      PiTs agent(c.config, {c.d, c.K, seed, s.realization[g]});
      for (std::size_t t = 0; t < c.seen; ++t) {
        const std::size_t round = g * c.seen + t;
        const ContextView x(s.contexts.data() + round * c.d, c.d);
        const Action a = agent.choose({.x = x, .id = t}).action;
        if (static_cast<std::int32_t>(a) != actions[round]) {
          ++left;
          RecordProperty(fmt::format("realization {} parts at round", g), static_cast<int>(t));
          break;
        }
        const Feedback event{.x = x, .action = a, .reward = s.rewards[round * c.K + a], .id = t};
        agent.learn({&event, 1});
      }
    }
    EXPECT_LE(left, 1U);
  }
}

TEST(CardLastLayers, TheSameBitsInGroupsOfAnySize) {
  NEEDS_CARD();
  const Case c{"groups", pi_ts_preset("fast"), 12, 5, 3, 120};
  Setting s(c, 19);
  add_signal(c, s);
  const auto play = [&](const std::vector<std::uint32_t>& realizations, std::size_t first) {
    Lockstep lockstep(settings_of(c), realizations, c.seen);
    for (std::size_t g = 0; g < realizations.size(); ++g) {
      const std::size_t from = (first + g) * c.seen;
      lockstep.set_rounds(g, std::span(s.contexts).subspan(from * c.d, c.seen * c.d),
                          std::span(s.rewards).subspan(from * c.K, c.seen * c.K));
    }
    while (lockstep.advance() > 0) {
    }
    return std::pair(lockstep.actions(), lockstep.last_layers().mean);
  };
  const auto [actions, means] = play(s.realization, 0);
  const auto [alone, means_alone] = play({s.realization[1]}, 1);
  for (std::size_t t = 0; t < c.seen; ++t) ASSERT_EQ(actions[c.seen + t], alone[t]) << t;
  for (std::size_t l = 0; l < means_alone.size(); ++l) ASSERT_EQ(means[means_alone.size() + l], means_alone[l]) << l;
}

}  // namespace
}  // namespace pits::cuda
