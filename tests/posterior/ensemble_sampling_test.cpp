// Lu & Van Roy 2017: with a linear model and Gaussian noise, a member that fits perturbed rewards and is regularised
// towards its own draw from the prior ends at θ_i = P⁻¹(Λ θ̃_i + Xᵀ(r + w_i)/σ²), an exact posterior draw.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "posterior/observations.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 2;
constexpr std::size_t n = 25;
constexpr std::size_t M = 250;
constexpr double noise = 0.5;
constexpr double prior = 2.0;  // Λ = 2 I

Posterior trained(const std::vector<PlainObservation>& data, Eigen::MatrixXd& start) {
  PosteriorConfig config{.particles = M, .batch = 1024};
  config.model = {.kind = ModelKind::linear, .noise_sd = noise, .prior = PriorScale::same, .prior_precision = prior};
  config.flow.kind = FlowKind::ensemble;
  config.optimizer = {.rule = Rule::sgd, .step = 2e-3, .schedule = Schedule::exponential, .decay = 3.0 / 300};
  config.perturbation = {.rewards = true, .anchors = true};
  Posterior posterior(config, d, 1, {.seed = 8});
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t l = 0; l <= d; ++l) {
      start(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(l)) = posterior.particles()(i, l);
    }
  }
  for (const PlainObservation& o : data) observe(posterior, o);
  posterior.train(300);
  return posterior;
}

struct Regression {
  Eigen::MatrixXd x{n, d + 1};  // rows (x, 1): the layout of a particle of one action
  Eigen::VectorXd r{n};
  Eigen::MatrixXd precision;
  Eigen::MatrixXd covariance;
  explicit Regression(const std::vector<PlainObservation>& data) {
    for (std::size_t t = 0; t < n; ++t) {
      const auto row = static_cast<Eigen::Index>(t);
      x.row(row) << data[t].x[0], data[t].x[1], 1.0;
      r[row] = data[t].reward;
    }
    precision = prior * Eigen::MatrixXd::Identity(d + 1, d + 1) + x.transpose() * x / (noise * noise);
    covariance = precision.inverse();
  }
  // The optimum of a member that starts at `anchor` and sees rewards y.
  Eigen::VectorXd optimum(const Eigen::VectorXd& anchor, const Eigen::VectorXd& y) const {
    return covariance * (prior * anchor + x.transpose() * y / (noise * noise));
  }
};

// A plain step η on minibatches of B draws rests at about √(η λ n/B) posterior sd from the optimum, λ the largest
// eigenvalue of P, below 200 here, and the residuals' variance 2σ² with the perturbations: 0.02 sd for the last η of
// 1e-4. 4.5 times that.
TEST(EnsembleSampling, EveryMemberEndsAtItsOwnRegression) {
  const auto data = linear_data(n, d, 1, 31, noise);
  Eigen::MatrixXd start(M, d + 1);
  const Posterior posterior = trained(data, start);
  const Regression exact(data);
  for (std::size_t i = 0; i < M; ++i) {
    Eigen::VectorXd y = exact.r;
    for (std::size_t t = 0; t < n; ++t) y[static_cast<Eigen::Index>(t)] += posterior.history()[t].offsets[i];
    const Eigen::VectorXd optimum = exact.optimum(start.row(static_cast<Eigen::Index>(i)).transpose(), y);
    for (std::size_t l = 0; l <= d; ++l) {
      const auto k = static_cast<Eigen::Index>(l);
      EXPECT_NEAR(posterior.particles()(i, l), optimum[k], 0.1 * std::sqrt(exact.covariance(k, k)));
    }
  }
}

// Together the members have the posterior's mean and variance: 4.5 standard errors of M draws, and what the members are
// off their own regressions.
TEST(EnsembleSampling, MembersHaveTheExactPosteriorsMeanAndVariance) {
  const auto data = linear_data(n, d, 1, 31, noise);
  Eigen::MatrixXd start(M, d + 1);
  const Posterior posterior = trained(data, start);
  const Regression exact(data);
  const Eigen::VectorXd mean = exact.optimum(Eigen::VectorXd::Zero(d + 1), exact.r);
  for (std::size_t l = 0; l <= d; ++l) {
    const auto k = static_cast<Eigen::Index>(l);
    double first = 0.0;
    double second = 0.0;
    for (std::size_t i = 0; i < M; ++i) {
      first += posterior.particles()(i, l) / double{M};
      second += std::pow(posterior.particles()(i, l) - mean[k], 2) / double{M};
    }
    const double variance = exact.covariance(k, k);
    EXPECT_NEAR(first, mean[k], (0.1 + 4.5 / std::sqrt(double{M})) * std::sqrt(variance));
    EXPECT_NEAR(second, variance, (0.1 + 4.5 * std::sqrt(2.0 / double{M})) * variance);
  }
}

}  // namespace
}  // namespace pits::test
