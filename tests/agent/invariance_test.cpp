// Units are nobody's business: the agent for products decides the same for other units of rewards and contexts.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "pits/agent/catalogue.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 4, K = 3, T = 250;

struct Units {
  double reward_scale = 1.0, reward_shift = 0.0, context_scale = 1.0, context_shift = 0.0;
};

// A linear truth and every ninth context with −999 for a missing number; what is missing follows the units too.
std::vector<Action> decisions(const Units& units) {
  const auto agent = find_recipe(agent_catalogue(), "agent", parse_spec("pi-ts"))
                         ->make({.context_size = d, .actions = K, .seed = 3, .realization = 0});
  std::vector<Action> taken;
  for (std::size_t t = 0; t < T; ++t) {
    Stream stream({.seed = 4, .purpose = Purpose::target_sample, .step = static_cast<std::uint32_t>(t)});
    std::vector<double> x(d);
    for (double& v : x) v = static_cast<float>(stream.normal());
    const double noise = 0.3 * stream.normal();
    if (t % 9 == 0) x[1] = -999.0;
    std::vector<float> shown(d);
    for (std::size_t j = 0; j < d; ++j) shown[j] = static_cast<float>(units.context_scale * x[j] + units.context_shift);
    const Action a = agent->choose({.x = shown, .id = t}).action;
    const double reward = (x[a] > -900.0 ? x[a] : 0.0) + noise;
    const auto paid = static_cast<float>(units.reward_scale * reward + units.reward_shift);
    const Feedback event{.x = shown, .action = a, .reward = paid, .id = t};
    agent->learn({&event, 1});
    taken.push_back(a);
  }
  return taken;
}

// Powers of two change no rounding.
TEST(Invariance, ScaledRewardsAndContextsLeaveEveryDecision) {
  const std::vector<Action> plain = decisions({});
  EXPECT_EQ(decisions({.reward_scale = 1024.0}), plain);
  EXPECT_EQ(decisions({.reward_scale = 1.0 / 64.0}), plain);
  EXPECT_EQ(decisions({.context_scale = 8.0}), plain);
}

// A shift changes roundings, so that runs part at some point. The zero of rewards matters only while they vary less
// than their size (scale_prior), and these vary more; columns_test.cpp has rewards far from 0.
TEST(Invariance, ShiftedOnesChangeNoMoreThanRoundingDoes) {
  const std::vector<Action> plain = decisions({});
  for (const Units& units : {Units{.reward_shift = 0.25}, Units{.context_shift = 16.0}}) {
    const std::vector<Action> shifted = decisions(units);
    std::size_t same = 0;
    while (same < T && shifted[same] == plain[same]) ++same;
    EXPECT_GE(same, 20U);
    int more = 0, parted = 0;  // rounds in which one of the two is right
    for (std::size_t t = 0; t < T; ++t) {
      Stream stream({.seed = 4, .purpose = Purpose::target_sample, .step = static_cast<std::uint32_t>(t)});
      std::vector<double> x(d);
      for (double& v : x) v = stream.normal();
      if (t % 9 == 0) x[1] = 0.0;
      const auto best = static_cast<Action>(std::max_element(x.begin(), x.begin() + K) - x.begin());
      more += (shifted[t] == best ? 1 : 0) - (plain[t] == best ? 1 : 0);
      parted += (shifted[t] == best) != (plain[t] == best) ? 1 : 0;
    }
    EXPECT_LE(std::abs(more), 4.0 * std::sqrt(parted));  // the sum of as many signs
  }
}

// A small problem whose rewards are learned whatever the agent would have played, so that one decision that rounding
// turns has no sequel: two numbers, three actions by turns, the better the higher x_0.
class Rewards {
 public:
  static constexpr std::size_t rounds = 120, settled = 60;  // from there on every action has 20 rewards

  explicit Rewards(std::uint32_t seed) : seed_(seed) {}

  // The decisions of an agent that learns a·r + b instead of r.
  std::vector<Action> decisions(double a, double b) const {
    const auto agent = find_recipe(agent_catalogue(), "agent", parse_spec("pi-ts,hidden=10,particles=3,train_steps=5"))
                           ->make({.context_size = 2, .actions = 3, .seed = seed_});
    std::vector<Action> taken;
    for (std::uint32_t t = 0; t < rounds; ++t) {
      Stream stream({.seed = seed_, .purpose = Purpose::target_sample, .step = t});
      const std::vector<float> x = {static_cast<float>(stream.normal()), static_cast<float>(stream.normal())};
      const Action shown = t % 3;
      const double reward = static_cast<float>(shown * 0.5 * x[0] + 0.3 * stream.normal());
      taken.push_back(agent->choose({.x = x, .id = t}).action);
      const Feedback event{.x = x, .action = shown, .reward = static_cast<float>(a * reward + b), .id = t};
      agent->learn({&event, 1});
    }
    return taken;
  }

 private:
  std::uint32_t seed_;
};

// 10^e, e between the two.
double power_of_ten(int low, int high) { return std::pow(10.0, *rc::gen::inRange(100 * low, 100 * high + 1) / 100.0); }

RC_GTEST_PROP(Invariance, RewardsTimesAPowerOfTwoLeaveEveryDecision, (std::uint32_t seed)) {
  const Rewards rewards(seed);
  RC_ASSERT(rewards.decisions(std::ldexp(1.0, *rc::gen::inRange(-30, 31)), 0.0) == rewards.decisions(1.0, 0.0));
}

// Any a, and b of up to 10,000·a of either sign. A float keeps a·r + b up to |b|·2⁻²⁴, which is 6e-4 of a at most, so
// that an agent in units of its own sees the same rewards up to that. It decides otherwise where the drawn values of
// two actions are as near, which is about one decision in a thousand then: at most one in thirty may be another.
RC_GTEST_PROP(Invariance, RewardsInAnyUnitLeaveDecisionsUpToRounding, (std::uint32_t seed)) {
  const double a = power_of_ten(-6, 6), b = *rc::gen::element(0.0, 1.0, -1.0) * a * power_of_ten(-1, 4);
  const Rewards rewards(seed);
  const std::vector<Action> plain = rewards.decisions(1.0, 0.0), other = rewards.decisions(a, b);
  const std::size_t from = b == 0.0 ? 0 : Rewards::settled;  // before, the zero of rewards matters (scale_prior)
  std::size_t parted = 0;
  for (std::size_t t = from; t < Rewards::rounds; ++t) parted += other[t] != plain[t] ? 1 : 0;
  RC_ASSERT(30 * parted <= Rewards::rounds - from);
}

}  // namespace
}  // namespace pits::test
