// Columns and units that say nothing new cost the agent for products little: constant, repeated, collinear and
// heavy-tailed columns, missing values in a flag, and rewards far from 0. Each is compared with the same rounds without
// it, paired over realizations: the upper 95 % bound of what it costs must stay below a stated bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>

#include "pits/agent/catalogue.h"

namespace pits::test {
namespace {

constexpr std::size_t K = 3, T = 500, realizations = 8;

// Four numbers, a flag, and noise for each action. The flag of every tenth round is not known.
struct Seen {
  std::vector<float> x;
  float flag = 0.0F, tail = 0.0F;
  bool known = true;
  std::vector<double> pays;  // (K) mean rewards
  double noise = 0.0;
};

Seen seen(std::uint32_t realization, std::size_t t) {
  Stream stream({.seed = 51,
                 .realization = realization,
                 .purpose = Purpose::target_sample,
                 .step = static_cast<std::uint32_t>(t)});
  Seen s;
  for (int j = 0; j < 4; ++j) s.x.push_back(static_cast<float>(stream.normal()));
  s.noise = 0.3 * stream.normal();
  s.flag = stream.uniform() < 0.12 ? 1.0F : 0.0F;
  s.known = stream.uniform() >= 0.1;
  s.tail = static_cast<float>(std::tan(std::numbers::pi * (stream.uniform() - 0.5)));
  s.pays = {s.x[0], s.x[1], s.x[2] + (s.known ? 3.0 * s.flag : 0.0)};
  return s;
}

using Shown = std::function<std::vector<float>(const Seen&)>;

// Of rounds `from` on, in percent of what uniform play pays.
double regret(const Shown& shown, std::uint32_t realization, double offset = 0.0, std::size_t from = 0) {
  const auto agent =
      find_recipe(agent_catalogue(), "agent", parse_spec("pi-ts"))
          ->make({.context_size = shown(seen(0, 0)).size(), .actions = K, .seed = 52, .realization = realization});
  double own = 0.0, uniform = 0.0;
  for (std::size_t t = 0; t < T; ++t) {
    const Seen s = seen(realization, t);
    const std::vector<float> x = shown(s);
    const Action a = agent->choose({.x = x, .id = t}).action;
    const double best = *std::ranges::max_element(s.pays);
    own += t < from ? 0.0 : best - s.pays[a];
    uniform += t < from ? 0.0 : best - std::accumulate(s.pays.begin(), s.pays.end(), 0.0) / K;
    const Feedback event{.x = x, .action = a, .reward = static_cast<float>(offset + s.pays[a] + s.noise), .id = t};
    agent->learn({&event, 1});
  }
  return 100.0 * own / uniform;
}

// What is not known is 0, and marked.
std::vector<float> plain(const Seen& s) {
  std::vector<float> x = s.x;
  x.push_back(s.known ? s.flag : 0.0F);
  x.push_back(s.known ? 0.0F : 1.0F);
  return x;
}

// By how much `other` is above plain contexts and rewards around 0, over realizations: the mean and two standard
// errors.
double cost(const std::function<double(std::uint32_t)>& other, std::size_t from = 0) {
  double sum = 0.0, squares = 0.0;
  for (std::uint32_t r = 0; r < realizations; ++r) {
    static std::map<std::pair<std::uint32_t, std::size_t>, double> known;
    const auto [of_plain, unknown] = known.try_emplace({r, from});
    if (unknown) of_plain->second = regret(plain, r, 0.0, from);
    const double difference = other(r) - of_plain->second;
    sum += difference;
    squares += difference * difference;
  }
  const double mean = sum / realizations;
  return mean + 2.0 * std::sqrt((squares / realizations - mean * mean) / (realizations - 1));
}

double cost_of_column(const std::function<float(const Seen&)>& column) {
  const Shown more = [&](const Seen& s) {
    std::vector<float> x = plain(s);
    x.push_back(column(s));
    return x;
  };
  return cost([&](std::uint32_t r) { return regret(more, r); });
}

// Plain contexts pay 3.6. The costs are 0.2 to 0.6, with standard errors of 0.2 to 0.35.
TEST(Columns, ThatSayNothingNewCostLittle) {
  EXPECT_LT(cost_of_column([](const Seen&) { return 5.0F; }), 2.0);
  EXPECT_LT(cost_of_column([](const Seen& s) { return s.x[0]; }), 2.0);
  EXPECT_LT(cost_of_column([](const Seen& s) { return s.x[0] - 2.0F * s.x[1]; }), 2.0);
  EXPECT_LT(cost_of_column([](const Seen& s) { return s.tail; }), 2.0);
}

// 1.1 ± 0.3; 13.6 where −999 made one value of the flag's 0 and 1.
TEST(Columns, AFlagWithMissingValuesCostsLittle) {
  const Shown missing = [](const Seen& s) {
    std::vector<float> x = s.x;
    x.push_back(s.known ? s.flag : -999.0F);
    return x;
  };
  EXPECT_LT(cost([&](std::uint32_t r) { return regret(missing, r); }), 2.5);
}

// Rewards of 50 ± 1: at most 20 rewards of each action are explored more widely (docs/regret.md, scale_pulls), which
// cannot pay more than as many rounds of uniform play; then it costs nothing that can be seen.
TEST(Columns, RewardsFarFromZeroCostABoundedNumberOfRounds) {
  for (const double offset : {50.0, -50.0}) {
    EXPECT_LT(cost([&](std::uint32_t r) { return regret(plain, r, offset); }), 100.0 * 20 * K / T);
    EXPECT_LT(cost([&](std::uint32_t r) { return regret(plain, r, offset, T / 2); }, T / 2), 1.0);
  }
}

}  // namespace
}  // namespace pits::test
