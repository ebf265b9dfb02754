// The mixture on the GPU, against the CPU's agent. What a block computes is compared number by number, without a GPU,
// in alone_mixture_test.cpp.
#include <gtest/gtest.h>

#include "cuda/changing_rounds.h"

namespace pits::cuda {
namespace {

std::unique_ptr<Lockstep> played(const Case& c, const Setting& s, std::size_t first, std::size_t count,
                                 GpuPrecision precision) {
  const Settings settings = gpu_settings(c.config, {c.d, c.K, seed, 0}, c.seen, precision);
  auto lockstep = std::make_unique<Lockstep>(settings, std::span(s.realization).subspan(first, count), c.seen);
  for (std::size_t g = 0; g < count; ++g) {
    const std::size_t from = (first + g) * c.seen;
    lockstep->set_rounds(g, std::span(s.contexts).subspan(from * c.d, c.seen * c.d),
                         std::span(s.rewards).subspan(from * c.K, c.seen * c.K));
  }
  while (lockstep->advance() > 0) {
  }
  return lockstep;
}

// With particles that hardly move, the GPU and the CPU see the same features: every decision, training and change is
// known but for values that are equal up to rounding.
void expect_the_cpus_decisions(Case c) {
  c.config.posterior.optimizer.step = 1e-12;
  const Setting s = changing_rounds(c);
  const auto lockstep = played(c, s, 0, c.G, GpuPrecision::float32);
  const std::vector<std::int32_t> actions = lockstep->actions();
  const MixtureNumbers numbers = lockstep->mixture();
  EXPECT_EQ(lockstep->singular(), std::vector<std::int32_t>(c.G)) << c.name;
  std::size_t parted = 0;
  for (std::size_t g = 0; g < c.G; ++g) {
    PiTs agent(c.config, {c.d, c.K, seed, s.realization[g]});
    std::size_t t = 0;
    for (; t < c.seen; ++t) {
      const std::size_t round = g * c.seen + t;
      const ContextView x(s.contexts.data() + round * c.d, c.d);
      const Action a = agent.choose({.x = x, .id = t}).action;
      if (static_cast<std::int32_t>(a) != actions[round]) break;
      const Feedback event{.x = x, .action = a, .reward = s.rewards[round * c.K + a], .id = t};
      agent.learn({&event, 1});
    }
    testing::Test::RecordProperty(fmt::format("{}, realization {}", c.name, g), fmt::format("alike for {} rounds", t));
    if (t < c.seen) {
      ++parted;
      continue;
    }
    EXPECT_EQ(numbers.forgotten[g], agent.posterior().history().forgotten()) << c.name;
    EXPECT_NEAR(numbers.linear_weight[g], agent.posterior().mixture()->linear_weight(), 1e-2) << c.name;
  }
  EXPECT_LE(parted, 1U) << c.name;
}

TEST(GpuMixture, DecisionsAreTheCpus) {
  NEEDS_GPU();
  for (const Case& c : mixture_cases()) expect_the_cpus_decisions(c);
}

// The same, as short as sanitizers need it.
TEST(GpuMixture, AFewRounds) {
  NEEDS_GPU();
  Case c = mixture_cases().front();
  c.G = 2;
  c.seen = 40;
  expect_the_cpus_decisions(c);
}

// Realizations train by themselves after a change, and still do not see each other.
TEST(GpuMixture, TheSameBitsInGroupsOfAnySize) {
  NEEDS_GPU();
  const Case c = mixture_cases().front();
  const Setting s = changing_rounds(c);
  for (const GpuPrecision precision : {GpuPrecision::float32, GpuPrecision::tf32}) {
    const auto all = played(c, s, 0, c.G, precision);
    const std::vector<std::int32_t> actions = all->actions();
    const std::vector<float> means = all->mixture().mean, particles = all->particles();
    for (std::size_t g = 0; g < c.G; ++g) {
      const auto alone = played(c, s, g, 1, precision);
      const std::vector<std::int32_t> own = alone->actions();
      EXPECT_TRUE(std::equal(own.begin(), own.end(), actions.begin() + static_cast<std::ptrdiff_t>(g * c.seen)));
      const std::vector<float> mean = alone->mixture().mean, theta = alone->particles();
      EXPECT_TRUE(std::equal(mean.begin(), mean.end(), means.begin() + static_cast<std::ptrdiff_t>(g * mean.size())));
      EXPECT_TRUE(
          std::equal(theta.begin(), theta.end(), particles.begin() + static_cast<std::ptrdiff_t>(g * theta.size())));
    }
  }
}

}  // namespace
}  // namespace pits::cuda
