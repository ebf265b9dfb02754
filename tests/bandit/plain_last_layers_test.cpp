// The agent `pi-ts` with exact last layers on contexts alone, round by round, against the rules as plain loops.
#include "posterior/plain_last_layers.h"

#include <gtest/gtest.h>

#include "pits/bandit/bandit.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 3, K = 3, M = 6;

struct Problem {
  std::string name;
  double offset;           // added to all rewards
  double noise;            // sd of the second action's rewards; 0.1 of the others'
  double posterior_scale;  // κ
  double scale_prior;
  bool rare;  // the third action is played once, else as often as the others
};
void PrintTo(const Problem& p, std::ostream* out) { *out << p.name; }

class AgentAndPlainLoops : public testing::TestWithParam<Problem> {
 protected:
  Bandit bandit_{
      fmt::format("pi-ts:exact,model=linear,particles={},train_every=20,train_first=0,train_share=0,posterior_scale={},"
                  "scale_prior={},initial_pulls=0",
                  M, GetParam().posterior_scale, GetParam().scale_prior),
      {.context_size = d, .actions = K, .seed = 11, .realization = 2}};
  PlainLearner plain_{{.actions = K,
                       .particles = M,
                       .train_every = 20,
                       .posterior_scale = GetParam().posterior_scale,
                       .scale_prior = GetParam().scale_prior,
                       .address = {.seed = 11, .realization = 2}}};
  Stream stream_{Address{.seed = 5, .purpose = Purpose::target_sample}};

  std::vector<float> context(double sd = 1.0) {
    std::vector<float> x(d);
    for (std::size_t j = 0; j < d; ++j)
      x[j] = static_cast<float>(sd * (2.0 * static_cast<double>(j) + stream_.normal()));
    return x;
  }

  void round(std::size_t t) {
    constexpr double beta[K][d] = {{1.0, -0.5, 0.2}, {-0.3, 0.4, 0.6}, {0.2, 0.1, -0.8}};
    const std::size_t a = GetParam().rare ? (t == 5 ? 2 : t % 2) : t % K;
    const std::vector<float> x = context();
    double r = GetParam().offset + (a == 1 ? GetParam().noise : 0.1) * stream_.normal();
    for (std::size_t j = 0; j < d; ++j) r += beta[a][j] * x[j];
    bandit_.learn(x, static_cast<Action>(a), static_cast<float>(r));
    plain_.learn(x, a, static_cast<float>(r));
  }

  // Rewards of every particle and action at x, and the share of particles that prefer each action.
  void compare(const std::vector<float>& x) {
    std::vector<double> found(K);
    std::vector<double> votes(K, 0.0);
    double nearest = 1e30;  // how far the two best actions of a particle are apart
    for (std::uint32_t i = 0; i < M; ++i) {
      const Row expected = plain_.rewards(i, x);
      ASSERT_TRUE(bandit_.agent().draw_rewards(x, i, found));
      for (std::size_t a = 0; a < K; ++a) {
        const double size = std::max(1.0, std::abs(plain_.standardised(expected[a])));
        ASSERT_NEAR(found[a], expected[a], size * plain_.tolerance()) << "particle " << i << ", action " << a;
      }
      Row sorted = expected;
      std::ranges::sort(sorted, std::greater<>{});
      nearest = std::min(nearest, sorted[0] - sorted[1]);
      votes[static_cast<std::size_t>(std::ranges::max_element(expected) - expected.begin())] += 1.0 / M;
    }
    if (nearest < 20.0 * plain_.tolerance()) return;  // rounding may decide
    std::vector<float> p(K);
    EXPECT_EQ(bandit_.probabilities(x, p), 0.0);
    for (std::size_t a = 0; a < K; ++a) EXPECT_NEAR(p[a], votes[a], 1e-6);
    ++compared_;
  }

  int compared_ = 0;
};

// After trainings, which choose precisions and draws anew, and between them, when regressions alone learn. Contexts far
// out reach the bounds of the means.
TEST_P(AgentAndPlainLoops, GiveTheSameRewardsAndProbabilities) {
  for (std::size_t t = 1; t <= 90; ++t) {
    round(t - 1);
    if (t < 20 || (t % 20 != 0 && t % 7 != 0)) continue;
    for (const double sd : {1.0, 1.0, 30.0}) compare(context(sd));
    if (HasFatalFailure()) FAIL() << "after " << t << " rounds";
  }
  EXPECT_GT(compared_, 10) << "rounding decides nearly everywhere, so this shows nothing of the votes";
}

INSTANTIATE_TEST_SUITE_P(
    LastLayers, AgentAndPlainLoops,
    testing::Values(Problem{"Plain", 0.0, 0.1, 0.7, 0.0, false}, Problem{"OwnNoise", 0.0, 2.0, 0.7, 0.0, false},
                    Problem{"HardlyTried", 0.0, 0.1, 0.25, 0.0, true}, Problem{"Doubt", 50.0, 0.1, 0.25, 4.0, false},
                    Problem{"LittleDoubt", 8.0, 0.1, 0.25, 0.5, true}, Problem{"MeansAlone", 0.0, 1.0, 0.0, 4.0, true}),
    [](const auto& problem) { return problem.param.name; });

}  // namespace
}  // namespace pits::test
