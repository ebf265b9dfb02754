#include "pits/experiment/diagnostics/posterior_distance.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "pits/agent/context_free/uniform.h"
#include "pits/agent/linear/lin_ts.h"
#include "pits/core/error.h"
#include "pits/experiment/run_cell.h"

namespace pits::test {
namespace {

TEST(W2ToNormal, OneDrawIsItsDistanceAndTheSpread) {
  EXPECT_NEAR(w2_to_normal({3.0}, 1.0, 2.0), std::sqrt(4.0 + 4.0), 1e-12);  // a point against N(1, 4): bias² + variance
  EXPECT_NEAR(w2_to_normal({1.5}, 1.5, 0.0), 0.0, 1e-12);
}

// Against the definition: the midpoint rule on ∫ (F⁻¹(u) − G⁻¹(u))² du with G⁻¹ found from a table of Φ.
TEST(W2ToNormal, MatchesTheQuantileIntegral) {
  const std::vector<double> draws = {0.3, -1.2, 2.0, 0.31, 5.0};
  const double mean = 0.4, sd = 1.7;
  std::vector<double> sorted = draws;
  std::ranges::sort(sorted);
  double square = 0.0, u = 0.0;
  const double h = 1e-4;
  for (double z = -9.0; z < 9.0; z += h) {  // du = φ dz
    const double du = 0.5 * std::erfc(-(z + h) / std::sqrt(2.0)) - 0.5 * std::erfc(-z / std::sqrt(2.0));
    const auto slice = std::min<std::size_t>(4, static_cast<std::size_t>(5.0 * (u + 0.5 * du)));
    square += du * std::pow(sorted[slice] - mean - sd * (z + 0.5 * h), 2);
    u += du;
  }
  EXPECT_NEAR(w2_to_normal(draws, mean, sd), std::sqrt(square), 1e-3);
}

double upper_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }
double density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2.0 * M_PI); }

// E W2² = 2 − 2 Σ_i E x_(i) (φ(z_i) − φ(z_{i+1})), z_i the i-th n-quantile, with the expected order statistics
// E x_(i) = n C(n−1, i−1) ∫ z Φ^{i−1} (1 − Φ)^{n−i} φ dz by the trapezoid rule, exact to rounding for such integrands.
double w2_square_of_draws(std::size_t n) {
  std::vector<double> phi(n + 1, 0.0);
  for (std::size_t i = 1; i < n; ++i) {  // Newton's method from the median
    double z = 0.0;
    for (int k = 0; k < 50; ++k) {
      z += (static_cast<double>(i) / static_cast<double>(n) - upper_tail(-z)) / density(z);
    }
    phi[i] = density(z);
  }
  double square = 2.0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto below = static_cast<double>(i), above = static_cast<double>(n - 1 - i);
    const double choose = std::lgamma(below + above + 1.0) - std::lgamma(below + 1.0) - std::lgamma(above + 1.0);
    double expected = 0.0;
    for (int k = -900; k <= 900; ++k) {
      const double z = 0.01 * k;
      const double power = choose + below * std::log(upper_tail(-z)) + above * std::log(upper_tail(z));
      expected += z * std::exp(power) * density(z) * 0.01;
    }
    square -= 2.0 * static_cast<double>(n) * expected * (phi[i] - phi[i + 1]);
  }
  return square;
}

// One draw: E (x − Z)² = 2. The figure for 20 by the integral, and by simulation within 4.5 standard errors.
TEST(W2ToNormal, ExpectedSquareOfExactDraws) {
  EXPECT_NEAR(w2_square_of_draws(1), 2.0, 1e-10);
  EXPECT_NEAR(PosteriorDistance::unit_floor, w2_square_of_draws(PosteriorDistance::draws), 1e-13);
  Stream stream({.seed = 5, .purpose = Purpose::target_sample});
  const int n = 20000;
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < n; ++i) {
    std::vector<double> draws(20);
    for (double& x : draws) x = stream.normal();
    const double square = std::pow(w2_to_normal(draws, 0.0, 1.0), 2);
    sum += square;
    squares += square * square;
  }
  const double mean = sum / n;
  const double se = std::sqrt((squares / n - mean * mean) / n);
  EXPECT_NEAR(PosteriorDistance::unit_floor, mean, 4.5 * se);
}

// An agent that believes exactly what the probe computes, up to a shift.
class Believer : public Cloned<Believer> {
 public:
  Believer(const PosteriorDistance& probe, const Linear& problem, std::size_t steps, double shift)
      : Cloned(AgentSetup{.context_size = problem.context_size(), .actions = problem.actions()}),
        probe_(&probe),
        problem_(&problem),
        steps_(steps),
        shift_(shift) {}
  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override {
    Round round;
    for (std::size_t c = 0; c < PosteriorDistance::contexts; ++c) {
      problem_->draw(steps_ + c, round);
      if (!std::ranges::equal(round.context, x)) continue;
      Stream stream({.seed = 9, .realization = draw, .step = static_cast<std::uint32_t>(c)});
      for (Action a = 0; a < out.size(); ++a) {
        const auto normal = probe_->exact(c, a);
        out[a] = normal.mean + shift_ + normal.sd * stream.normal();
      }
      return true;
    }
    return false;
  }

 private:
  Action decide(const Query&, Stream&, ActionProbabilities*) const override { return 0; }
  void observe(const Feedback&) override {}
  void state(Archive&) override {}

  const PosteriorDistance* probe_;
  const Linear* problem_;
  std::size_t steps_;
  double shift_;
};

struct Played {
  explicit Played(std::size_t rounds)
      : problem({.noise = {.level = 0.1}}, {.seed = 3}), probe(problem, nobody, 500, 500) {
    Round round;
    for (std::size_t t = 0; t < rounds; ++t) {
      problem.draw(t, round);
      const auto a = static_cast<Action>(t % problem.actions());
      contexts.push_back(round.context);
      probe.observe({.x = contexts.back(), .action = a, .reward = static_cast<float>(round.rewards[a])});
      rewards.push_back(static_cast<float>(round.rewards[a]));
    }
  }
  Uniform nobody{{}, {.context_size = 10, .actions = 8}};
  Linear problem;
  PosteriorDistance probe;
  std::vector<std::vector<float>> contexts;
  std::vector<float> rewards;
};

// Batch normal equations with an explicit inverse.
TEST(PosteriorDistance, ExactMarginalsAreTheConjugatePosterior) {
  const Played played(80);
  const Eigen::Index d = 10;
  for (const Action a : {0U, 5U}) {
    const double sd = played.problem.noise_sd(a);
    Eigen::MatrixXd precision = 10.0 * Eigen::MatrixXd::Identity(d, d);
    Eigen::VectorXd moment = Eigen::VectorXd::Zero(d);
    for (std::size_t t = a; t < 80; t += 8) {
      const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXf>(played.contexts[t].data(), d).cast<double>();
      precision += x * x.transpose() / (sd * sd);
      moment += x * static_cast<double>(played.rewards[t]) / (sd * sd);
    }
    const Eigen::MatrixXd covariance = precision.inverse();
    Round round;
    played.problem.draw(500 + 7, round);
    const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXf>(round.context.data(), d).cast<double>();
    EXPECT_NEAR(played.probe.exact(7, a).mean, x.dot(covariance * moment), 1e-8);
    EXPECT_NEAR(played.probe.exact(7, a).sd, std::sqrt(x.dot(covariance * x)), 1e-8);
  }
}

// W2² of each marginal has mean floor²; 256 marginals, W2² relative sd below 1: within 4.5/16. A shift adds its square.
TEST(PosteriorDistance, ExactDrawsScoreTheFloorAndAShiftAdds) {
  Played played(80);
  const PosteriorDistance::Reading exact = played.probe.measure(Believer(played.probe, played.problem, 500, 0.0));
  EXPECT_NEAR(exact.w2 * exact.w2 / (exact.floor * exact.floor), 1.0, 4.5 / 16.0);
  const PosteriorDistance::Reading shifted = played.probe.measure(Believer(played.probe, played.problem, 500, 3.0));
  EXPECT_EQ(shifted.floor, exact.floor);
  EXPECT_NEAR(shifted.w2, 3.0, 0.1);
}

// The same regression from two sides: after 500 pulls of each action Lin-TS knows the noise to 3 % and its prior is
// forgotten, so that its draws are exact ones. 256 marginals share a draw for each of 8 actions, hence 20·8 free draws.
TEST(PosteriorDistance, LinTsScoresTheFloorOnceItKnowsTheNoise) {
  Played played(4000);
  LinTs agent({.prior = {.lambda = 0.01, .a0 = 1.0, .b0 = 0.01}}, {.context_size = 10, .actions = 8, .seed = 3});
  for (std::size_t t = 0; t < 4000; ++t) {
    const Feedback event{.x = played.contexts[t], .action = static_cast<Action>(t % 8), .reward = played.rewards[t]};
    agent.learn({&event, 1});
  }
  const PosteriorDistance::Reading reading = played.probe.measure(agent);
  EXPECT_NEAR(reading.w2 * reading.w2 / (reading.floor * reading.floor), 1.0, 4.5 * std::sqrt(2.0 / 160.0) + 0.1);
}

TEST(PosteriorDistance, ChangesNothingForTheAgent) {
  ExperimentConfig config{.agents = {"pi-ts,particles=3"}, .environments = {"linear"}, .steps = 100, .realizations = 1};
  const Plan plain(config);
  config.probe = "posterior";
  const Plan probed(config);
  const auto nothing = [](std::size_t) {};
  EXPECT_EQ(run_cell(plain, plain.cell(0), nothing).curve, run_cell(probed, probed.cell(0), nothing).curve);
}

TEST(PosteriorDistance, RefusesWhatHasNoExactPosterior) {
  const auto message = [](const ExperimentConfig& config) -> std::string {
    try {
      Plan plan(config);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_NE(message({.agents = {"lin-ts"}, .environments = {"wheel"}, .probe = "posterior"}).find("linear"),
            std::string::npos);
  EXPECT_NE(message({.agents = {"uniform"}, .environments = {"linear"}, .probe = "posterior"}).find("no posterior"),
            std::string::npos);
  EXPECT_NE(
      message({.agents = {"lin-ts"}, .environments = {"linear,noise_level=0"}, .probe = "posterior"}).find("noise"),
      std::string::npos);
}

// 20 rounds of equal ratio: 20·100^(i/19), rounded.
TEST(ProbeRounds, AreSpacedInLogTime) {
  const std::vector<std::size_t> at = probe_rounds(2000);
  ASSERT_EQ(at.size(), 20U);
  for (std::size_t i = 0; i < at.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(at[i]), 20.0 * std::exp(std::log(100.0) * static_cast<double>(i) / 19.0), 0.5);
  }
}

TEST(ProbeRounds, GrowAndEndAtTheLastRound) {
  for (const std::size_t rounds : {1U, 5U, 20U, 23U, 2000U}) {
    const std::vector<std::size_t> at = probe_rounds(rounds);
    EXPECT_EQ(at.back(), rounds);
    EXPECT_TRUE(std::ranges::is_sorted(at, std::less_equal<>{}));
  }
}

}  // namespace
}  // namespace pits::test
