#include "pits/posterior/evidence.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "pits/core/random.h"
#include "posterior/conjugate.h"

namespace pits::test {
namespace {

struct Problem {
  std::vector<Eigen::MatrixXd> x;  // (n,d) of each regression
  std::vector<Eigen::VectorXd> y;
  std::vector<RegressionSums> sums;
};

// Two features that matter, two that matter a little.
Problem random_problem(std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  Problem p;
  for (const Eigen::Index n : {30, 12, 3}) {
    Eigen::MatrixXd x(n, 4);
    for (double& value : x.reshaped()) value = stream.normal();
    Eigen::VectorXd beta(4), y(n);
    for (Eigen::Index j = 0; j < 4; ++j) beta[j] = stream.normal() * (j < 2 ? 2.0 : 0.3);
    for (Eigen::Index i = 0; i < n; ++i) y[i] = x.row(i).dot(beta) + 0.5 * stream.normal();
    RegressionSums sums(4);
    add_to(sums, x.transpose(), y);
    p.x.push_back(x);
    p.y.push_back(y);
    p.sums.push_back(sums);
  }
  return p;
}

constexpr double never = 1e9;
const BayesLinearConfig noise{.lambda = 1.0, .a0 = 2.0, .b0 = 0.3};

std::vector<CoefficientGroup> two_groups(double weight) {
  return {
      {.first = 0, .count = 2, .precision = 1.0, .expected = 0.7, .weight = weight, .low = 1 / never, .high = never},
      {.first = 2, .count = 2, .precision = 1.0, .expected = 2.0, .weight = weight, .low = 1 / never, .high = never}};
}

// log p(y | α, β) by the n × n covariance I/β + X diag(1/α) Xᵀ, plus the log densities of what is believed beforehand:
// β ~ Gamma(a0, b0), α_g ~ Gamma(w/2, w σ²/(2 expected)), of their logarithms and up to constants.
double log_posterior(const Problem& p, const std::vector<CoefficientGroup>& groups, const Eigen::Vector2d& log_alpha,
                     double log_beta, double variance) {
  double sum = noise.a0 * log_beta - noise.b0 * std::exp(log_beta);
  Eigen::VectorXd prior_variance(4);
  for (std::size_t g = 0; g < 2; ++g) {
    const double w = groups[g].weight, l = log_alpha[static_cast<Eigen::Index>(g)];
    sum += 0.5 * w * l - 0.5 * w * variance / groups[g].expected * std::exp(l);
    prior_variance.segment(groups[g].first, groups[g].count).setConstant(std::exp(-l));
  }
  for (std::size_t a = 0; a < p.x.size(); ++a) {
    const Eigen::Index n = p.y[a].size();
    const Eigen::MatrixXd covariance = std::exp(-log_beta) * Eigen::MatrixXd::Identity(n, n) +
                                       p.x[a] * prior_variance.asDiagonal() * p.x[a].transpose();
    const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
    const double log_determinant = 2.0 * cholesky.matrixLLT().diagonal().array().log().sum();
    sum -= 0.5 * log_determinant + 0.5 * p.y[a].dot(cholesky.solve(p.y[a]));
  }
  return sum;
}

TEST(Evidence, ItsFixedPointIsStationary) {
  for (const double weight : {0.0, 2.0}) {
    const Problem p = random_problem(3);
    std::vector<CoefficientGroup> groups = two_groups(weight);
    double variance = 0.0;
    for (int i = 0; i < 2000; ++i) variance = evidence_step(p.sums, noise, groups);
    const Eigen::Vector2d alpha(std::log(groups[0].precision / variance), std::log(groups[1].precision / variance));
    const double beta = -std::log(variance), h = 1e-5;
    const auto at = [&](const Eigen::Vector2d& a, double b) { return log_posterior(p, groups, a, b, variance); };
    for (Eigen::Index g = 0; g < 2; ++g) {
      const Eigen::Vector2d step = h * Eigen::Vector2d::Unit(g);
      EXPECT_NEAR((at(alpha + step, beta) - at(alpha - step, beta)) / (2 * h), 0.0, 1e-5) << "group " << g;
    }
    EXPECT_NEAR((at(alpha, beta + h) - at(alpha, beta - h)) / (2 * h), 0.0, 1e-5);
  }
}

TEST(Evidence, TellsFeaturesThatMatterFromOthers) {
  const Problem p = random_problem(11);
  std::vector<CoefficientGroup> groups = two_groups(0.0);
  for (int i = 0; i < 200; ++i) evidence_step(p.sums, noise, groups);
  EXPECT_LT(10.0 * groups[0].precision, groups[1].precision);
}

TEST(Evidence, WithoutObservationsThePriorStays) {
  const std::vector<RegressionSums> nothing(3, RegressionSums(4));
  std::vector<CoefficientGroup> groups = two_groups(2.0);
  const double variance = evidence_step(nothing, noise, groups);
  EXPECT_DOUBLE_EQ(variance, noise.b0 / noise.a0);
  EXPECT_DOUBLE_EQ(groups[0].precision, 0.7);
  EXPECT_DOUBLE_EQ(groups[1].precision, 2.0);
}

TEST(Evidence, PrecisionsStayWithinTheirBounds) {
  const Problem p = random_problem(5);
  std::vector<CoefficientGroup> groups = two_groups(0.0);
  groups[0].low = 0.5;
  groups[1].high = 0.6;
  for (int i = 0; i < 50; ++i) evidence_step(p.sums, noise, groups);
  EXPECT_EQ(groups[0].precision, 0.5);
  EXPECT_EQ(groups[1].precision, 0.6);
  Eigen::VectorXd prior;
  prior_precision(groups, prior);
  EXPECT_EQ(prior, Eigen::VectorXd(Eigen::Vector4d(0.5, 0.5, 0.6, 0.6)));
}

}  // namespace
}  // namespace pits::test
