#include "pits/agent/presets.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "agent/play.h"

namespace pits::test {
namespace {

// A linear model of one action has the Gaussian posterior N(A⁻¹b, A⁻¹), A = Σ x xᵀ/σ² + I with x = (x, 1). The chain's
// long-run mean and variance meet it: the mean within four standard errors by batch means, the variance within four
// and the step's own bias. A plain step ε has, in a direction of precision a, the stationary variance
// 1/(a (1 − εa/2)).
TEST(Langevin, LinearModelVisitsTheKnownPosterior) {
  PiTsConfig c = pi_ts_preset("langevin", "lmc");
  c.posterior.model.kind = ModelKind::linear;
  c.posterior.model.noise_sd = 0.5;
  c.posterior.model.prior = PriorScale::same;
  c.posterior.optimizer = {.rule = Rule::sgd, .step = 2e-3};
  Posterior posterior(c.posterior, 2, 1, {.seed = 4});
  Eigen::Matrix3d A = Eigen::Matrix3d::Identity();
  Eigen::Vector3d b = Eigen::Vector3d::Zero();
  for (const Event& e : random_events(30, 6, 2, 1)) {
    posterior.observe({.context = e.x, .action = 0, .reward = e.reward});
    const Eigen::Vector3d x(e.x[0], e.x[1], 1.0);
    A += 4.0 * x * x.transpose();
    b += 4.0 * e.reward * x;
  }
  const Eigen::Vector3d mean = A.inverse() * b;
  const Eigen::Matrix3d stationary = (A - 1e-3 * A * A).inverse();  // A(I − εA/2)
  posterior.train(2000);
  constexpr int batches = 50, steps = 1000;
  Eigen::Vector3d sum[2] = {}, square[2] = {};
  for (auto& v : sum) v.setZero();
  for (auto& v : square) v.setZero();
  for (int k = 0; k < batches; ++k) {
    Eigen::Vector3d first = Eigen::Vector3d::Zero(), second = first;
    for (int i = 0; i < steps; ++i) {
      posterior.train(1);
      const auto row = posterior.particles().row(0);
      const Eigen::Vector3d z = Eigen::Vector3d(row[0], row[1], row[2]) - mean;
      first += z / steps;
      second += z.cwiseAbs2() / steps;
    }
    const Eigen::Vector3d batch[2] = {first, second};
    for (int m = 0; m < 2; ++m) {
      sum[m] += batch[m] / batches;
      square[m] += batch[m].cwiseAbs2() / batches;
    }
  }
  for (int m = 0; m < 2; ++m) {
    for (int j = 0; j < 3; ++j) {
      const double error = std::sqrt((square[m][j] - sum[m][j] * sum[m][j]) / (batches - 1));
      EXPECT_NEAR(sum[m][j], m == 0 ? 0.0 : stationary(j, j), 4.0 * error) << m << j;
    }
  }
}

TEST(Langevin, StepsFallAsOneOverTheRounds) {
  const OptimizerConfig c = pi_ts_preset("langevin", "lmc").posterior.optimizer;
  EXPECT_NEAR(step_size(c, 20) / step_size(c, 0), 0.5, 1e-12);
  EXPECT_NEAR(step_size(c, 1980) / step_size(c, 0), 0.01, 1e-12);
}

}  // namespace
}  // namespace pits::test
