#include "cuda/layer_errors.h"

namespace pits::cuda {
namespace {

std::unique_ptr<Lockstep> fitted_on_gpu(const Case& c, const Setting& s, const std::vector<CpuLayers>& cpu,
                                        std::size_t fitted) {
  auto lockstep = on_gpu(c, s, GpuPrecision::float32);
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

TEST(GpuUnits, AreTheCpus) {
  NEEDS_GPU();
  for (const Case& c : shapes()) {
    Setting s(c, 3 * c.d + c.K);
    add_signal(c, s);
    for (std::size_t round = 0; round < c.G * c.seen; ++round) s.contexts[round * c.d] = 7.0F;  // never varies
    const std::size_t fitted = c.seen - later;
    const std::vector<CpuLayers> cpu = all_realizations(c, s, fitted);
    const UnitNumbers gpu = fitted_on_gpu(c, s, cpu, fitted)->units();
    const bool raw = c.config.posterior.units == UnitsKind::raw;
    EXPECT_EQ(gpu.contexts.empty(), raw);
    for (std::size_t g = 0; g < c.G; ++g) {
      const RewardUnits expected = reward_units(cpu[g]), u = gpu.rewards[g];
      EXPECT_NEAR(u.mean, expected.mean, 1e-12 * (1.0 + std::abs(expected.mean))) << c.name;
      EXPECT_NEAR(u.sd, expected.sd, 1e-12 * expected.sd) << c.name;
      EXPECT_NEAR(u.size, expected.size, 1e-12 * expected.size) << c.name;
      EXPECT_EQ(u.low, expected.low) << c.name;
      EXPECT_EQ(u.high, expected.high) << c.name;
      for (std::size_t t = 0; t < c.seen; ++t) {
        const Observation o = cpu[g].observation(t);
        const std::size_t round = g * c.seen + t;
        const auto x = cpu[g].posterior.standardiser().context(o.context);
        for (std::size_t j = 0; !raw && j < c.d; ++j) {
          ASSERT_NEAR(gpu.contexts[round * c.d + j], x[j], 1e-6F * (1.0F + std::abs(x[j]))) << c.name;
        }
        if (t >= fitted) continue;
        const auto reward = static_cast<float>(cpu[g].posterior.standardiser().reward(o.reward));
        ASSERT_NEAR(gpu.rewards_received[round], reward, 1e-6F * (1.0F + std::abs(reward))) << c.name;
      }
    }
  }
}

TEST(GpuLastLayers, AFitAndLaterObservationsAreThoseOfTheDoubleReference) {
  NEEDS_GPU();
  for (const Case& c : shapes()) {
    Setting s(c, 3 * c.d + c.K);
    add_signal(c, s);
    const std::size_t fitted = c.seen - later;
    const std::vector<CpuLayers> cpu = all_realizations(c, s, fitted);
    const auto lockstep = fitted_on_gpu(c, s, cpu, fitted);
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

// Contexts in float16 are those of the units that settled last.
TEST(GpuUnits, TrainingInThemIsTheCpus) {
  NEEDS_GPU();
  for (const GpuPrecision precision : {GpuPrecision::float32, GpuPrecision::tf32}) {
    for (const std::vector<int>& hidden : {std::vector<int>{30}, std::vector<int>{12, 6}}) {
      Case c{"training in units", smooth(FlowKind::blob), 21, 5, 2, 160};
      c.config.posterior.units = UnitsKind::standardised;
      c.config.posterior.model.hidden = hidden;
      c.config.posterior.model.activation = Activation::tanh;
      c.config.posterior.optimizer.step = 0.02;
      Setting s(c, 23);
      add_signal(c, s);
      for (std::size_t i = 0; i < s.contexts.size(); ++i) s.contexts[i] = 100.0F + 20.0F * s.contexts[i];
      const auto lockstep = on_gpu(c, s, precision);
      const std::vector<float> before = lockstep->particles();
      lockstep->train(1, c.seen / 2);
      lockstep->train(1, c.seen);
      const std::vector<float> after = lockstep->particles();
      for (std::size_t g = 0; g < c.G; ++g) {
        Posterior cpu(c.config.posterior, c.d, c.K, {.seed = seed, .realization = s.realization[g]});
        for (std::size_t t = 0; t < c.seen; ++t) {
          cpu.observe(observation_of(c, s, g, t));
          if (t + 1 == c.seen / 2 || t + 1 == c.seen) cpu.train(1);
        }
        const std::size_t size = cpu.particles().size();
        std::vector<double> gpu_move(size);
        Eigen::VectorXd cpu_move(static_cast<Eigen::Index>(size));
        for (std::size_t l = 0; l < size; ++l) {
          gpu_move[l] = static_cast<double>(after[g * size + l]) - before[g * size + l];
          cpu_move[static_cast<Eigen::Index>(l)] =
              static_cast<double>(cpu.particles().data()[l]) - before[g * size + l];
        }
        EXPECT_LT(relative(gpu_move, cpu_move), precision == GpuPrecision::tf32 ? 5e-3 : 1e-4);
      }
    }
  }
}

std::vector<std::int32_t> played_on_gpu(const Case& c, const Setting& s) {
  Lockstep lockstep(settings_of(c), s.realization, c.seen);
  for (std::size_t g = 0; g < c.G; ++g) {
    lockstep.set_rounds(g, std::span(s.contexts).subspan(g * c.seen * c.d, c.seen * c.d),
                        std::span(s.rewards).subspan(g * c.seen * c.K, c.seen * c.K));
  }
  while (lockstep.advance() > 0) {
  }
  return lockstep.actions();
}

// Rounds of realization g before the CPU decides otherwise.
std::size_t rounds_alike(const Case& c, const Setting& s, std::size_t g, std::span<const std::int32_t> actions) {
  PiTs agent(c.config, {c.d, c.K, seed, s.realization[g]});
  for (std::size_t t = 0; t < c.seen; ++t) {
    const std::size_t round = g * c.seen + t;
    const ContextView x(s.contexts.data() + round * c.d, c.d);
    const Action a = agent.choose({.x = x, .id = t}).action;
    if (static_cast<std::int32_t>(a) != actions[round]) return t;
    const Feedback event{.x = x, .action = a, .reward = s.rewards[round * c.K + a], .id = t};
    agent.learn({&event, 1});
  }
  return c.seen;
}

// With particles that hardly move, the GPU and the CPU see the same features: every decision is known but for values
// that are equal up to rounding, and one that falls differently changes all that follow in its realization.
TEST(GpuLastLayers, DecisionsAreTheCpus) {
  NEEDS_GPU();
  std::vector<Case> list(3, {"small", small_exact(), 12, 5, 6, 300});
  list[1].name = "small, floor, optimistic";
  list[1].config.exploration.floor = 0.2;
  list[1].config.posterior.last_layer.optimistic = true;
  list[2].name = "linear";
  list[2].config.posterior.model.kind = ModelKind::linear;
  for (Case& c : list) {
    c.config.posterior.optimizer.step = 1e-12;
    Setting s(c, 17);
    add_signal(c, s);
    const std::vector<std::int32_t> actions = played_on_gpu(c, s);
    std::size_t parting = 0;
    for (std::size_t g = 0; g < c.G; ++g) {
      const std::size_t alike = rounds_alike(c, s, g, actions);
      if (alike == c.seen) continue;
      ++parting;
      RecordProperty(fmt::format("{}, realization {} parts at round", c.name, g), static_cast<int>(alike));
    }
    EXPECT_LE(parting, 1U) << c.name;
  }
}

TEST(GpuLastLayers, TheSameBitsInGroupsOfAnySize) {
  NEEDS_GPU();
  const Case c{"groups", small_exact(), 12, 5, 3, 120};
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
