#include "pits/experiment/posterior_probe.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "pits/agent/lin_ts.h"
#include "pits/core/error.h"
#include "pits/experiment/plan.h"

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

// One draw: E (x − Z)² = 2. Many: falls towards 0. The figure for 20 by simulation, 4.5 standard errors.
TEST(W2ToNormal, ExpectedSquareOfExactDraws) {
  EXPECT_NEAR(w2_square_of_draws(1), 2.0, 1e-10);
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
  EXPECT_NEAR(w2_square_of_draws(20), mean, 4.5 * se);
}

// An agent that believes exactly what the probe computes, up to a shift.
class Believer : public Agent {
 public:
  Believer(const PosteriorProbe& probe, const Linear& problem, std::size_t steps, double shift)
      : probe_(probe), problem_(problem), steps_(steps), shift_(shift) {}
  Decision choose(const Query&) const override { return {.action = 0, .propensity = {}}; }
  void learn(std::span<const Feedback>) override {}
  std::unique_ptr<const Policy> snapshot() const override { return nullptr; }
  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override {
    Round round;
    for (std::size_t c = 0; c < PosteriorProbe::contexts; ++c) {
      problem_.draw(steps_ + c, round);
      if (!std::ranges::equal(round.context, x)) continue;
      Stream stream({.seed = 9, .realization = draw, .step = static_cast<std::uint32_t>(c)});
      for (Action a = 0; a < out.size(); ++a) {
        const auto normal = probe_.exact(c, a);
        out[a] = normal.mean + shift_ + normal.sd * stream.normal();
      }
      return true;
    }
    return false;
  }

 private:
  const PosteriorProbe& probe_;
  const Linear& problem_;
  std::size_t steps_;
  double shift_;
};

struct Played {
  explicit Played(std::size_t rounds) : problem({.noise_level = 0.1}, {.seed = 3}), probe(problem, 500) {
    Round round;
    for (std::size_t t = 0; t < rounds; ++t) {
      problem.draw(t, round);
      const auto a = static_cast<Action>(t % problem.actions());
      contexts.push_back(round.context);
      probe.observe({.x = contexts.back(), .action = a, .reward = static_cast<float>(round.rewards[a])});
      rewards.push_back(static_cast<float>(round.rewards[a]));
    }
  }
  Linear problem;
  PosteriorProbe probe;
  std::vector<std::vector<float>> contexts;
  std::vector<float> rewards;
};

// Batch normal equations with an explicit inverse.
TEST(PosteriorProbe, ExactMarginalsAreTheConjugatePosterior) {
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
TEST(PosteriorProbe, ExactDrawsScoreTheFloorAndAShiftAdds) {
  Played played(80);
  const Reading exact = played.probe.measure(Believer(played.probe, played.problem, 500, 0.0));
  EXPECT_NEAR(exact.w2 * exact.w2 / (exact.floor * exact.floor), 1.0, 4.5 / 16.0);
  const Reading shifted = played.probe.measure(Believer(played.probe, played.problem, 500, 3.0));
  EXPECT_EQ(shifted.floor, exact.floor);
  EXPECT_NEAR(shifted.w2, 3.0, 0.1);
}

// The same regression from two sides: after 500 pulls of each action Lin-TS knows the noise to 3 % and its prior is
// forgotten, so that its draws are exact ones. 256 marginals share a draw for each of 8 actions, hence 20·8 free draws.
TEST(PosteriorProbe, LinTsScoresTheFloorOnceItKnowsTheNoise) {
  Played played(4000);
  LinTs agent({.prior = {.lambda = 0.01, .a0 = 1.0, .b0 = 0.01}}, {.context_size = 10, .actions = 8, .seed = 3});
  for (std::size_t t = 0; t < 4000; ++t) {
    const Feedback event{.x = played.contexts[t], .action = static_cast<Action>(t % 8), .reward = played.rewards[t]};
    agent.learn({&event, 1});
  }
  const Reading reading = played.probe.measure(agent);
  EXPECT_NEAR(reading.w2 * reading.w2 / (reading.floor * reading.floor), 1.0, 4.5 * std::sqrt(2.0 / 160.0) + 0.1);
}

TEST(PosteriorProbe, ChangesNothingForTheAgent) {
  ExperimentConfig config{.agents = {"pi-ts,particles=3"}, .environments = {"linear"}, .steps = 100, .realizations = 1};
  const Plan plain(config);
  config.probe = "posterior";
  const Plan probed(config);
  EXPECT_EQ(plain.run(plain.cell(0), [](std::size_t) {}).curve, probed.run(probed.cell(0), [](std::size_t) {}).curve);
}

TEST(PosteriorProbe, RefusesWhatHasNoExactPosterior) {
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
  EXPECT_NE(message({.agents = {"lin-ts"}, .environments = {"linear"}, .probe = "prior"}).find("posterior"),
            std::string::npos);
  EXPECT_NE(
      message({.agents = {"lin-ts"}, .environments = {"linear,noise_level=0"}, .probe = "posterior"}).find("noise"),
      std::string::npos);
}

TEST(ProbeRounds, GrowAndEndAtTheLastRound) {
  for (const std::size_t rounds : {1U, 5U, 20U, 23U, 2000U}) {
    const std::vector<std::size_t> at = probe_rounds(rounds);
    EXPECT_EQ(at.back(), rounds);
    EXPECT_TRUE(std::ranges::is_sorted(at, std::less_equal<>{}));
  }
  EXPECT_EQ(probe_rounds(2000).front(), 20U);
}

}  // namespace
}  // namespace pits::test
