// Units are nobody's business: the agent for products decides the same for other units of rewards and contexts.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace pits::test
