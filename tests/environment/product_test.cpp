// Product problems against closed forms and Monte Carlo means.
#include "pits/environment/product.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <map>
#include <numbers>

#include "environment/statistics.h"
#include "experiment/expect_error.h"
#include "pits/environment/catalogue.h"

namespace pits::test {
namespace {

std::unique_ptr<Environment> problem_of(const std::string& spec, const EnvironmentSetup& setup = {.seed = 5}) {
  return find_recipe(environment_catalogue(), "environment", parse_spec(spec))->make(setup);
}

std::vector<Round> rounds_of(const Environment& problem, std::size_t n, std::size_t first = 0) {
  std::vector<Round> rounds(n);
  for (std::size_t t = 0; t < n; ++t) problem.draw(first + t, rounds[t]);
  return rounds;
}

double mean_reward(const std::vector<Round>& rounds) {
  double sum = 0.0;
  for (const Round& round : rounds) sum += round.even(round.mean_rewards);
  return sum / static_cast<double>(rounds.size());
}

std::size_t best_action_of(const Round& round) {
  return static_cast<std::size_t>(std::ranges::max_element(round.mean_rewards) - round.mean_rewards.begin());
}

class EveryProduct : public testing::TestWithParam<std::string> {};

// Σ_t (r_ta − mean_ta) over n rounds is within 4 of its standard errors, for every action.
TEST_P(EveryProduct, RewardsHaveTheMeansThatRoundsSay) {
  const auto problem = problem_of(GetParam());
  const std::vector<Round> rounds = rounds_of(*problem, 20000);
  for (std::size_t a = 0; a < std::min<std::size_t>(problem->actions(), 20); ++a) {
    std::vector<double> off;
    for (const Round& round : rounds) off.push_back(round.rewards[a] - round.mean_rewards[a]);
    const double se = std::sqrt(covariance_of(off, off) / static_cast<double>(off.size()));
    EXPECT_NEAR(mean_of(off), 0.0, 4.0 * se + 1e-4) << "action " << a;  // events of 1 in n rounds may be missing
  }
}

std::vector<std::string> every_product() {
  std::vector<std::string> specs;
  for (const char* name : {"click", "revenue", "price", "drift"}) {
    for (const EnvironmentEntry& entry : environment_catalogue()) {
      for (const Preset& p : entry.presets) {
        if (entry.name == name) specs.push_back(entry.name + ":" + p.name);
      }
    }
  }
  specs.insert(specs.end(), {"revenue,scale=3,offset=-2,noise=0.5", "price,noise=0", "click,scale=2,offset=1"});
  return specs;
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryProduct, testing::ValuesIn(every_product()), [](const auto& spec) {
  std::string name = spec.param;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

// 1,000 contexts calibrate it: an error of a few per cent is left.
TEST(Click, HasTheBaseRateThatWasAsked) {
  for (const std::string truth : {"linear", "interactions", "constant"}) {
    for (const double rate : {0.01, 0.05, 0.2, 0.6}) {
      const auto problem = problem_of(fmt::format("click,truth={},base_rate={}", truth, rate));
      EXPECT_NEAR(mean_reward(rounds_of(*problem, 20000)) / rate, 1.0, 0.12) << truth;
    }
  }
}

TEST(Click, PaysZeroOrOne) {
  for (const Round& round : rounds_of(*problem_of("click"), 200)) {
    for (const double r : round.rewards) EXPECT_TRUE(r == 0.0 || r == 1.0);
  }
}

TEST(Click, ConstantTruthHasOneBestActionForEverybody) {
  const auto problem = problem_of("click:constant");
  const std::vector<Round> rounds = rounds_of(*problem, 200);
  for (const Round& round : rounds) EXPECT_EQ(round.mean_rewards, rounds[0].mean_rewards);
}

// Scores of a linear truth of normal contexts: main effects of variance 0.2, and w·x of 0.8, over many truths.
TEST(Drift, ScoresHaveVarianceOneOverTruths) {
  for (const std::string spec : {"drift:still,contexts=normal", "drift:still", "drift:interactions", "drift:cauchy"}) {
    std::vector<double> scores, means;
    for (std::uint32_t r = 0; r < 400; ++r) {
      const std::vector<Round> rounds = rounds_of(*problem_of(spec, {.seed = 6, .realization = r}), 50);
      double sum = 0.0;
      for (const Round& round : rounds) {
        scores.push_back(round.mean_rewards[0]);
        sum += round.mean_rewards[0] / 50.0;
      }
      means.push_back(sum);
    }
    EXPECT_NEAR(covariance_of(scores, scores), 1.0, 0.2) << spec;
    EXPECT_NEAR(covariance_of(means, means), 0.2 + 0.8 / 50.0, 0.08) << spec;
  }
}

TEST(Drift, LinearTruthIsLinearInTheContext) {
  const auto problem = problem_of("drift:still,contexts=normal,dimension=4,offset=3,scale=2");
  const std::vector<Round> rounds = rounds_of(*problem, 60);
  Eigen::MatrixXd x(60, 5);
  Eigen::VectorXd y(60);
  for (Eigen::Index t = 0; t < 60; ++t) {
    const Round& round = rounds[static_cast<std::size_t>(t)];
    for (Eigen::Index j = 0; j < 4; ++j) x(t, j) = round.context[static_cast<std::size_t>(j)];
    x(t, 4) = 1.0;
    y[t] = round.mean_rewards[2];
  }
  const Eigen::VectorXd w = (x.transpose() * x).inverse() * x.transpose() * y;
  EXPECT_LT((x * w - y).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_GT(w.head(4).norm(), 0.1);
}

TEST(Drift, OffsetAndScaleChangeRewardsAndNothingElse) {
  const auto plain = problem_of("drift:interactions"), moved = problem_of("drift:interactions,offset=50,scale=0.5");
  for (std::size_t t = 0; t < 50; ++t) {
    const Round a = rounds_of(*plain, 1, t)[0], b = rounds_of(*moved, 1, t)[0];
    EXPECT_EQ(a.context, b.context);
    for (std::size_t i = 0; i < a.rewards.size(); ++i) {
      EXPECT_NEAR(b.rewards[i], 50.0 + 0.5 * a.rewards[i], 1e-9);
      EXPECT_NEAR(b.mean_rewards[i], 50.0 + 0.5 * a.mean_rewards[i], 1e-9);
    }
  }
}

double correlation(const Environment& problem, std::size_t from, std::size_t to) {
  std::vector<double> before, after;
  for (std::size_t t = 0; t < 200; ++t) {
    const Round a = rounds_of(problem, 1, from + t)[0], b = rounds_of(problem, 1, to + t)[0];
    const auto middle = [](const Round& round, std::size_t i) { return round.mean_rewards[i] - round.mean_rewards[0]; };
    for (std::size_t i = 1; i < a.rewards.size(); ++i) before.push_back(middle(a, i)), after.push_back(middle(b, i));
  }
  return covariance_of(before, after) / std::sqrt(covariance_of(before, before) * covariance_of(after, after));
}

// Contexts are of dimension 1 and the same in sign: the truth alone decides how rewards of two rounds agree.
TEST(Change, SwitchesAtTheEndOfAPeriodAndNotBefore) {
  const auto problem = problem_of("drift:switch,period=1000,truth=constant,actions=50", {.seed = 5, .steps = 3000});
  EXPECT_EQ(rounds_of(*problem, 1, 0)[0].mean_rewards, rounds_of(*problem, 1, 999)[0].mean_rewards);
  EXPECT_LT(std::abs(correlation(*problem, 0, 1000)), 0.5);
}

TEST(Change, DriftsContinuouslyWithTheVarianceItHad) {
  const auto problem = problem_of("drift:drift,period=1000,truth=constant,actions=500", {.seed = 5, .steps = 3000});
  for (const std::size_t t : {0U, 250U, 500U, 999U, 1000U, 1500U}) {
    const std::vector<double> now = rounds_of(*problem, 1, t)[0].mean_rewards;
    const std::vector<double> next = rounds_of(*problem, 1, t + 1)[0].mean_rewards;
    double largest = 0.0;
    for (std::size_t a = 0; a < now.size(); ++a) largest = std::max(largest, std::abs(next[a] - now[a]));
    EXPECT_LT(largest, 0.01) << t;
    EXPECT_GT(largest, 0.0) << t;
    EXPECT_NEAR(covariance_of(now, now), 1.0, 0.3) << t;
  }
  // cos(π/2·s) of the first draw is left after a share s of the period, nothing after the whole.
  const auto at = [&](std::size_t t) { return rounds_of(*problem, 1, t)[0].mean_rewards; };
  EXPECT_NEAR(covariance_of(at(0), at(500)), std::cos(std::numbers::pi / 4.0), 0.2);
  EXPECT_NEAR(covariance_of(at(0), at(1000)), 0.0, 0.2);
}

TEST(Change, WandersWithThePeriod) {
  const auto problem = problem_of("drift:wander,period=1000,truth=constant,actions=500");
  const auto at = [&](std::size_t t) { return rounds_of(*problem, 1, t)[0].mean_rewards; };
  const std::vector<double> start = at(0), half = at(500), whole = at(1000);
  for (std::size_t a = 0; a < start.size(); ++a) EXPECT_NEAR(whole[a], start[a], 1e-9);
  // fixed part of variance 1, wandering part of variance 1 that is reversed after half a period
  EXPECT_NEAR(covariance_of(start, start), 2.0, 0.4);
  EXPECT_NEAR(covariance_of(start, half), 0.0, 0.4);
}

// Weights of later knots than `steps` asks for are drawn in the round: the same rounds.
TEST(Change, RoundsDoNotDependOnHowManyWereAskedFor) {
  for (const char* spec : {"drift:switch,period=10", "drift:drift,period=10", "click:wander,period=10"}) {
    const auto few = problem_of(spec, {.seed = 5, .steps = 1}), many = problem_of(spec, {.seed = 5, .steps = 500});
    for (const std::size_t t : {0U, 9U, 10U, 255U, 499U, 700U}) {
      EXPECT_EQ(rounds_of(*few, 1, t)[0].mean_rewards, rounds_of(*many, 1, t)[0].mean_rewards) << spec << ' ' << t;
    }
  }
}

TEST(NewAction, IsNotAllowedBeforeItAppearsAndBestForHalfOfTheContextsThen) {
  for (const std::string spec : {"click:new", "drift:new", "revenue,appears=2000"}) {
    const auto problem = problem_of(spec);
    EXPECT_TRUE(problem->masks_actions());
    const Round before = rounds_of(*problem, 1, 1999)[0], after = rounds_of(*problem, 1, 2000)[0];
    EXPECT_EQ(before.allowed, (std::vector<std::uint8_t>{1, 1, 1, 1, 0}));
    EXPECT_TRUE(after.allowed.empty());
    if (spec.starts_with("revenue")) continue;  // the size of a payment counts there too
    double best = 0.0;
    for (const Round& round : rounds_of(*problem, 4000, 2000)) best += best_action_of(round) == 4 ? 1.0 : 0.0;
    EXPECT_NEAR(best / 4000.0, 0.5, 0.08) << spec;
  }
}

// Expected values by the formula: mean = p·Φ((s − log p)/σ); all actions share one s, found from the first.
TEST(Price, IsPaidByThoseWhoWouldPayMore) {
  const auto problem = problem_of("price,noise=0");
  for (const Round& round : rounds_of(*problem, 500)) {
    for (std::size_t a = 0; a < round.rewards.size(); ++a) {
      const double price = 3.0 * static_cast<double>(a + 1) / 20.0;
      EXPECT_TRUE(round.rewards[a] == 0.0 || round.rewards[a] == price);
      EXPECT_EQ(round.rewards[a], round.mean_rewards[a]);
      if (a == 0 || round.rewards[a] == 0.0) continue;
      EXPECT_GT(round.rewards[a - 1], 0.0) << "who pays more pays less, too";
    }
  }
}

TEST(Revenue, IsZeroInMostRoundsAndPositiveElse) {
  const std::vector<Round> rounds = rounds_of(*problem_of("revenue"), 20000);
  double paid = 0.0;
  for (const Round& round : rounds) {
    for (const double r : round.rewards) {
      EXPECT_GE(r, 0.0);
      paid += r > 0.0 ? 1.0 : 0.0;
    }
  }
  EXPECT_NEAR(paid / 100000.0 / 0.03, 1.0, 0.12);
}

TEST(Contexts, OfMixedKindAreHalfNumbersHalfLevels) {
  const auto problem = problem_of("click");
  std::vector<double> first;
  std::map<std::size_t, double> levels;
  for (const Round& round : rounds_of(*problem, 20000)) {
    ASSERT_EQ(round.context.size(), 20U);
    first.push_back(round.context[0]);
    for (const std::size_t start : {10U, 15U}) {
      double ones = 0.0;
      for (std::size_t j = start; j < start + 5; ++j) {
        EXPECT_TRUE(round.context[j] == 0.0F || round.context[j] == 1.0F);
        ones += round.context[j];
        levels[j] += round.context[j];
      }
      EXPECT_EQ(ones, 1.0);
    }
  }
  expect_normal_moments(first, 0.0, 1.0);
  for (const auto& [column, count] : levels) expect_share(count, 20000, 0.2);
}

TEST(Contexts, HaveTheirDistributions) {
  std::vector<double> logarithms, angles, noise;
  for (const Round& round : rounds_of(*problem_of("drift:lognormal"), 10000)) {
    logarithms.push_back(std::log(round.context[3]));
  }
  expect_normal_moments(logarithms, 0.0, 1.0);
  for (const Round& round : rounds_of(*problem_of("drift:cauchy"), 10000)) {
    angles.push_back(0.5 + std::atan(double{round.context[9]}) / std::numbers::pi);
  }
  expect_uniform(angles);
  for (const Round& round : rounds_of(*problem_of("drift:noise"), 10000)) {
    ASSERT_EQ(round.context.size(), 106U);
    noise.push_back(round.context[105]);
  }
  expect_normal_moments(noise, 0.0, 1.0);
}

// The truth sees z, lognormal contexts show e^z: the same rounds otherwise.
TEST(Contexts, OfOtherDistributionsAreMonotoneInTheSameNumbers) {
  const auto normal = problem_of("drift:still,contexts=normal"),
             lognormal = problem_of("drift:still,contexts=lognormal");
  for (std::size_t t = 0; t < 100; ++t) {
    const Round a = rounds_of(*normal, 1, t)[0], b = rounds_of(*lognormal, 1, t)[0];
    EXPECT_EQ(a.mean_rewards, b.mean_rewards);
    for (std::size_t j = 0; j < a.context.size(); ++j) EXPECT_NEAR(std::log(b.context[j]), a.context[j], 1e-5);
  }
}

TEST(Contexts, HaveSentinelsInSixColumns) {
  std::vector<double> cells(8, 0.0);
  for (const Round& round : rounds_of(*problem_of("drift:sentinel,dimension=8"), 10000)) {
    for (std::size_t j = 0; j < 8; ++j) cells[j] += round.context[j] == -999.0F ? 1.0 : 0.0;
  }
  for (std::size_t j = 0; j < 6; ++j) expect_share(cells[j], 10000, 0.1);
  EXPECT_EQ(cells[6] + cells[7], 0.0);
}

// Noise features change no reward.
TEST(Contexts, NoiseFeaturesDoNotMatter) {
  const auto problem = problem_of("drift:still,dimension=1,noise_features=30,noise=0,contexts=normal");
  const std::vector<Round> rounds = rounds_of(*problem, 100);
  const auto slope = [&](const Round& a, const Round& b) {
    return (a.mean_rewards[0] - b.mean_rewards[0]) / (double{a.context[0]} - double{b.context[0]});
  };
  for (std::size_t t = 2; t < 100; ++t) EXPECT_NEAR(slope(rounds[t], rounds[0]), slope(rounds[1], rounds[0]), 1e-3);
}

TEST(Timing, IsWhatTheFieldsSay) {
  EXPECT_TRUE(problem_of("click")->timing().immediate());
  const RewardTiming timing = problem_of("price,delay=7,batch=3")->timing();
  EXPECT_EQ(timing.delay, 7);
  EXPECT_EQ(timing.batch, 3);
  EXPECT_FALSE(timing.immediate());
}

TEST(Products, NameWhatIsWrong) {
  const std::map<std::string, std::string> bad = {{"click,actions=0", "actions"},
                                                  {"click,dimension=0", "dimension"},
                                                  {"click,noise_features=-1", "noise_features"},
                                                  {"click,contexts=odd", "contexts"},
                                                  {"click,truth=odd", "truth"},
                                                  {"click,effect=-1", "effect"},
                                                  {"click,base_rate=0", "base_rate"},
                                                  {"click,base_rate=1", "base_rate"},
                                                  {"click,noise=1", "noise"},
                                                  {"drift,noise=-1", "noise"},
                                                  {"drift,base_rate=0.1", "base_rate"},
                                                  {"click,change=odd", "change"},
                                                  {"click,period=0", "period"},
                                                  {"click,appears=-1", "appears"},
                                                  {"price,appears=10", "appears"},
                                                  {"click,scale=0", "scale"},
                                                  {"click,offset=nan", "offset"},
                                                  {"click,delay=-1", "delay"},
                                                  {"click,batch=0", "batch"},
                                                  {"click,appears=5,actions=1", "appears"},
                                                  {"click:constant,appears=5", "appears"},
                                                  {"click,truth=interactions,dimension=1", "dimension"}};
  for (const auto& [spec, field] : bad) {
    expect_mentions(message_of([&] { problem_of(spec); }), {field});
  }
}

}  // namespace
}  // namespace pits::test
