#include "pits/cuda/lockstep.h"

#include <gtest/gtest.h>

#include <bit>

#include "cuda/random_group.h"

namespace pits::cuda {
namespace {

// Float numbers between a and b.
std::int64_t ulps(float a, float b) {
  const auto ordered = [](float x) {
    const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(x));
    return bits < 0x80000000LL ? bits : 0x80000000LL - bits;
  };
  return std::abs(ordered(a) - ordered(b));
}

TEST(Lockstep, FirstParticlesAreTheCpus) {
  NEEDS_GPU();
  for (const Init init : {Init::prior, Init::fan_in, Init::uniform}) {
    for (const Noise noise : {Noise::fixed, Noise::learned_per_action}) {
      Case c{"init", smooth(FlowKind::svgd), 13, 5, 3, 10};
      c.config.posterior.model.init = init;
      c.config.posterior.model.noise = noise;
      c.config.posterior.model.hidden = {50, 7};
      c.config.posterior.particles = 20;
      const Setting s(c, 1);
      const std::vector<float> drawn = on_gpu(c, s, GpuPrecision::tf32)->particles();
      const std::size_t size = drawn.size() / c.G;
      for (std::size_t g = 0; g < c.G; ++g) {
        const Posterior cpu(c.config.posterior, c.d, c.K, {.seed = seed, .realization = s.realization[g]});
        ASSERT_EQ(cpu.particles().size(), size);
        for (std::size_t l = 0; l < size; ++l) {
          const float expected = cpu.particles().data()[l];
          ASSERT_LE(ulps(drawn[g * size + l], expected), init == Init::uniform ? 0 : 4) << l;
        }
      }
    }
  }
}

// With particles that never move, every decision is known.
TEST(Lockstep, DecisionsAreTheCpus) {
  NEEDS_GPU();
  for (const double floor : {0.0, 0.3}) {
    for (const std::vector<int>& hidden : {std::vector<int>{50}, std::vector<int>{20, 10}}) {
      Case c{"decisions", smooth(FlowKind::svgd), 21, 8, 3, 500};
      c.config.posterior.model.hidden = hidden;
      c.config.exploration.floor = floor;
      c.config.exploration.floor_decay = 0.01;
      c.config.posterior.training.every = 1000;
      const Setting s(c, 5);
      const Settings settings = gpu_settings(c.config, {c.d, c.K, seed, 0}, c.seen, GpuPrecision::tf32);
      Lockstep lockstep(settings, s.realization, c.seen);
      for (std::size_t g = 0; g < c.G; ++g) {
        lockstep.set_rounds(g, std::span(s.contexts).subspan(g * c.seen * c.d, c.seen * c.d),
                            std::span(s.rewards).subspan(g * c.seen * c.K, c.seen * c.K));
      }
      while (lockstep.advance() > 0) {
      }
      const std::vector<std::int32_t> actions = lockstep.actions();
      std::size_t other = 0;
      for (std::size_t g = 0; g < c.G; ++g) {
        PiTs agent(c.config, {c.d, c.K, seed, s.realization[g]});
        for (std::size_t t = 0; t < c.seen; ++t) {
          const std::size_t round = g * c.seen + t;
          const ContextView x(s.contexts.data() + round * c.d, c.d);
          const Action a = agent.choose({.x = x, .id = t}).action;
          if (static_cast<std::int32_t>(a) != actions[round]) ++other;
          const Feedback event{.x = x, .action = a, .reward = s.rewards[round * c.K + a], .id = t};
          agent.learn({&event, 1});
        }
      }
      EXPECT_LE(other, 1U);  // two values that are equal up to rounding
    }
  }
}

TEST(Lockstep, TheSameBitsInGroupsOfAnySize) {
  NEEDS_GPU();
  for (const std::vector<int>& hidden : {std::vector<int>{50}, std::vector<int>{12, 6}}) {
    Case c{"groups", smooth(FlowKind::dgf), 30, 4, 3, 90};
    c.config.posterior.model.hidden = hidden;
    const Setting s(c, 9);
    const auto all = on_gpu(c, s, GpuPrecision::tf32);
    all->train(3, c.seen);
    const std::vector<float> together = all->particles();
    Case alone = c;
    alone.G = 1;
    Setting second = s;
    second.realization = {s.realization[1]};
    second.contexts.assign(s.contexts.begin() + 90 * 30, s.contexts.begin() + 2 * 90 * 30);
    second.rewards.assign(s.rewards.begin() + 90 * 4, s.rewards.begin() + 2 * 90 * 4);
    second.actions.assign(s.actions.begin() + 90, s.actions.begin() + 180);
    const auto one = on_gpu(alone, second, GpuPrecision::tf32);
    one->train(3, c.seen);
    const std::vector<float> apart = one->particles();
    const std::size_t size = apart.size();
    for (std::size_t l = 0; l < size; ++l) ASSERT_EQ(together[size + l], apart[l]) << l;
  }
}

TEST(Lockstep, ParametersOfTheGpuAreThoseOfTheCpu) {
  PiTsConfig config;
  config.posterior.model.hidden = {6, 5};
  config.posterior.model.noise = Noise::learned_per_action;
  const Settings s = gpu_settings(config, {7, 3, 0, 0}, 100, GpuPrecision::tf32);
  const RewardModel model(config.posterior.model, 7, 3);
  ASSERT_EQ(s.parameters.size(), model.parameters());
  std::vector<std::int64_t> places;
  for (const ParameterLayout& p : s.parameters) places.push_back(p.at);
  std::ranges::sort(places);
  EXPECT_TRUE(std::ranges::adjacent_find(places) == places.end());
  EXPECT_LT(places.back(), s.network.stride);
  EXPECT_EQ(s.parameters[7].at, s.network.layer[0].stride);  // row 1, column 0
}

}  // namespace
}  // namespace pits::cuda
