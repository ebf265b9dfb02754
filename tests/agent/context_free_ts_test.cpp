#include "pits/agent/context_free/context_free_ts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agent/choice_probability.h"
#include "agent/play.h"
#include "chi_square.h"

namespace pits::test {
namespace {

const std::vector<float> x(context_size, 0.5F);

void pay(Agent& agent, Action action, const std::vector<float>& rewards) {
  for (const float reward : rewards) {
    const Feedback feedback{.x = x, .action = action, .reward = reward};
    agent.learn({&feedback, 1});
  }
}

std::vector<double> choice_counts(const Agent& agent, std::size_t K, DecisionId decisions = 40000) {
  std::vector<double> counts(K, 0.0);
  for (DecisionId id = 0; id < decisions; ++id) counts[agent.choose({.x = x, .id = id}).action] += 1.0;
  return counts;
}

// Beta(α + successes, β + failures); a reward of 0.25 is a quarter of a success.
TEST(BernoulliTs, PlaysAnActionAsOftenAsItIsLikelyToBeTheBest) {
  BernoulliTs agent({.alpha = 2.0, .beta = 1.5}, {.context_size = context_size, .actions = 3, .seed = 4});
  pay(agent, 0, {1, 0, 1, 1, 0});
  pay(agent, 1, {0, 0, 1, 0.25F, 0.75F});
  const std::vector<Density> densities = {beta_density(5.0, 3.5), beta_density(4.0, 4.5), beta_density(2.0, 1.5)};
  expect_frequencies(choice_counts(agent, 3), probability_of_largest(densities, 0.0, 1.0));
}

// P(X > Y) for X ~ Beta(2,1), Y ~ Beta(1,1) is E[X] = 2/3: no quadrature needed.
TEST(BernoulliTs, OneSuccessMakesAnActionTwiceAsLikelyAsAnUntriedOne) {
  BernoulliTs agent({}, {.context_size = context_size, .actions = 2, .seed = 5});
  pay(agent, 1, {1});
  expect_frequencies(choice_counts(agent, 2), {1.0 / 3.0, 2.0 / 3.0});
}

TEST(BernoulliTs, RefusesRewardsOutsideTheUnitInterval) {
  BernoulliTs agent({}, small_setup());
  EXPECT_THROW(pay(agent, 0, {1.5F}), Error);
  EXPECT_THROW(pay(agent, 0, {-0.1F}), Error);
  EXPECT_THROW(BernoulliTs({.alpha = 0.0}, small_setup()), Error);
  EXPECT_THROW(BernoulliTs({.beta = -1.0}, small_setup()), Error);
}

// The regression on a constant: λ_n = λ + n, mean Σr/λ_n, b = b0 + ½(Σr² − λ_n mean²), and the mean reward is Student's
// t with 2a degrees of freedom and squared scale b/(a λ_n).
Density mean_reward_density(const BayesLinearConfig& prior, const std::vector<float>& rewards) {
  double precision = prior.lambda;
  double sum = 0.0;
  double squares = 0.0;
  for (const float r : rewards) {
    precision += 1.0;
    sum += r;
    squares += double{r} * double{r};
  }
  const double mean = sum / precision;
  const double a = prior.a0 + 0.5 * static_cast<double>(rewards.size());
  const double b = prior.b0 + 0.5 * (squares - precision * mean * mean);
  return student_density(2.0 * a, mean, std::sqrt(b / (a * precision)));
}

TEST(GaussianTs, PlaysAnActionAsOftenAsItIsLikelyToBeTheBest) {
  const GaussianTsConfig config{.prior = {.lambda = 0.5, .a0 = 3.0, .b0 = 2.0}};
  GaussianTs agent(config, {.context_size = context_size, .actions = 3, .seed = 6});
  const std::vector<std::vector<float>> rewards = {{1.0F, 2.5F, 0.5F, 1.5F}, {-0.5F, 3.0F}, {0.7F}};
  std::vector<Density> densities;
  for (Action a = 0; a < 3; ++a) {
    pay(agent, a, rewards[a]);
    densities.push_back(mean_reward_density(config.prior, rewards[a]));
  }
  expect_frequencies(choice_counts(agent, 3), probability_of_largest(densities, -30.0, 30.0));
}

// Thompson sampling pulls a worse action about (2σ²/Δ²) log t times (Lai and Robbins 1985; Kaufmann et al. 2012). With
// Δ = 0.7 and σ at most the prior's 1, two of them have 8.2 log(500/400) = 1.8 of the last 100 pulls, and 4 standard
// deviations of a Poisson count more make 7.2.
TEST(GaussianTs, FindsTheBestAction) {
  GaussianTs agent({}, {.context_size = context_size, .actions = 3, .seed = 8});
  Stream noise({.seed = 9, .purpose = Purpose::target_sample});
  int best = 0;
  for (DecisionId t = 0; t < 500; ++t) {
    const Action action = agent.choose({.x = x, .id = t}).action;
    best += t >= 400 && action == 1;
    pay(agent, action, {static_cast<float>((action == 1 ? 1.0 : 0.3) + 0.3 * noise.normal())});
  }
  EXPECT_GE(best, 93);
}

TEST(GaussianTs, RefusesBadPriors) { EXPECT_THROW(GaussianTs({.prior = {.b0 = 0.0}}, small_setup()), Error); }

}  // namespace
}  // namespace pits::test
