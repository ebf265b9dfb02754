// Bayesian linear regression, whose posterior is exact: what every flow makes of its mean and marginal variances.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "flow/batch_means.h"
#include "flow/runs.h"

namespace pits {
namespace {

using Eigen::VectorXd;
using namespace test;

constexpr std::size_t M = 100;
constexpr std::uint64_t problem_seed = 7;
constexpr std::uint64_t cloud_seed = 1;

// What a cloud says of the posterior, coordinate by coordinate.
struct Fit {
  VectorXd mean_error;      // (mean − exact)/exact sd
  VectorXd variance_ratio;  // variance/exact
};

Fit fit(const Gaussian& posterior, const VectorXd& mean, const VectorXd& variance) {
  const VectorXd exact = posterior.covariance.diagonal();
  return {.mean_error = (mean - posterior.mean).cwiseQuotient(exact.cwiseSqrt()),
          .variance_ratio = variance.cwiseQuotient(exact)};
}

void show(const std::string& flow, const Fit& f, const std::string& more) {
  const auto d = f.mean_error.size();
  std::printf("posterior  d = %ld  %-22s mean off by %.4f sd   variance ratios %.3f .. %.3f, mean %.3f   %s\n", d,
              flow.c_str(), f.mean_error.cwiseAbs().maxCoeff(), f.variance_ratio.minCoeff(),
              f.variance_ratio.maxCoeff(), f.variance_ratio.mean(), more.c_str());
  ::testing::Test::RecordProperty(flow + "_mean_error", std::to_string(f.mean_error.cwiseAbs().maxCoeff()));
  ::testing::Test::RecordProperty(flow + "_smallest_variance_ratio", std::to_string(f.variance_ratio.minCoeff()));
  ::testing::Test::RecordProperty(flow + "_largest_variance_ratio", std::to_string(f.variance_ratio.maxCoeff()));
}

class Posterior : public ::testing::TestWithParam<int> {};
#ifdef PITS_SANITIZED  // the same code in each dimension, minutes
INSTANTIATE_TEST_SUITE_P(Dimensions, Posterior, ::testing::Values(1));
#else
INSTANTIATE_TEST_SUITE_P(Dimensions, Posterior, ::testing::Values(1, 2, 5));
#endif

// Mean and standard deviation over random problems of this kind.
struct Range {
  double mean = 0.0, sd = 0.0;
};

struct Deterministic {
  std::string name;
  FlowConfig config;
  int steps;
  Range least, most;  // smallest and largest variance ratio of a coordinate at d = 5
  bool only_shown = false;
};

// The ratios are those of another implementation: scripts/golden/rest.py 10. docs/flows.md has those of this one.
const std::vector<Deterministic>& deterministic_flows() {
  static const std::vector<Deterministic> flows = {
      {"svgd", {.kind = FlowKind::svgd}, 1000, {0.702, 0.014}, {0.722, 0.010}},
      {"gfsf", {.kind = FlowKind::gfsf}, 1000, {0.715, 0.005}, {0.731, 0.008}},
      {"blob", {.kind = FlowKind::blob}, 1000, {0.651, 0.039}, {0.795, 0.034}},
      {"gfsd", {.kind = FlowKind::gfsd}, 1000, {0.384, 0.047}, {0.544, 0.047}},
      {"dgf", {.kind = FlowKind::dgf, .gamma = 1.0}, 1000, {0.258, 0.034}, {0.374, 0.028}},
      {"dgf-sinkhorn", {.kind = FlowKind::dgf_sinkhorn}, 900, {0.704, 0.013}, {0.724, 0.010}},
      {"dgf-sinkhorn-biased", {.kind = FlowKind::dgf_sinkhorn, .debiased = false}, 500, {}, {}, true}};
  return flows;
}

// Sinkhorn's plans are the dearest steps; in one and two dimensions fewer of them come to rest.
int steps_to_rest(const Deterministic& f, int d) {
  return f.config.kind == FlowKind::dgf_sinkhorn && d < 5 ? 400 : f.steps;
}

// The cloud starts as N(1, I), off the posterior's mean in every coordinate.
TEST_P(Posterior, DeterministicFlowsRestOnTheMeanAndKeepTheVariance) {
  const int d = GetParam();
  const LinearRegression problem = correlated_regression(d, problem_seed);
  const Matrix<double> start = normal_cloud(M, static_cast<std::size_t>(d), 1.0, VectorXd::Ones(d), cloud_seed);
  std::map<std::string, VectorXd> ratios;
  for (const Deterministic& f : deterministic_flows()) {
    const int steps = steps_to_rest(f, d);
    const Rest rest = run_to_rest(problem, f.config, settling_adam(0.1, steps), steps, start);
    const Fit result = fit(problem.posterior(), cloud_mean(rest.theta), cloud_variance(rest.theta));
    show(f.name, result, "speed " + std::to_string(rest.first_speed) + " to " + std::to_string(rest.last_speed));
    ratios[f.name] = result.variance_ratio;
    if (f.only_shown) continue;
    EXPECT_LT(rest.last_speed, 0.02 * rest.first_speed) << f.name << " is not at rest";
    EXPECT_LT(result.mean_error.cwiseAbs().maxCoeff(), 0.05) << f.name;
    EXPECT_LT(result.variance_ratio.maxCoeff(), 1.1) << f.name;
    if (d == 5) {
      EXPECT_NEAR(result.variance_ratio.minCoeff(), f.least.mean, 4.5 * f.least.sd) << f.name;
      EXPECT_NEAR(result.variance_ratio.maxCoeff(), f.most.mean, 4.5 * f.most.sd) << f.name;
    }
  }
  // The known narrowing: constant multipliers pull SVGD's cloud together in every coordinate.
  EXPECT_LT(ratios["dgf"].maxCoeff(), 0.9 * ratios["svgd"].minCoeff());
}

struct Noisy {
  std::string name;
  FlowConfig config;
  double step;
  int steps;
};

const std::vector<Noisy>& noisy_flows() {
  static const std::vector<Noisy> flows = {{"sgld", {.kind = FlowKind::sgld}, 0.01, 20000},
                                           {"spos-beta-0.1", {.kind = FlowKind::spos, .beta = 0.1}, 0.1, 8000},
                                           {"spos-beta-0.5", {.kind = FlowKind::spos, .beta = 0.5}, 0.03, 4000}};
  return flows;
}

// Series over time of one number a coordinate: [coordinate][step].
using Series = std::vector<std::vector<double>>;

struct Record {
  Series mean;    // of the cloud
  Series square;  // second moment of the cloud about the exact mean
};

// Plain steps with the flow's noise; the first fifth of the run is left out.
Record run_noisy(const Noisy& f, const LinearRegression& problem, const VectorXd& exact_mean, Matrix<double> theta) {
  Flow<double> flow(f.config);
  Optimizer<double> optimizer({.rule = Rule::sgd, .step = f.step});
  Matrix<double> v(theta.rows(), theta.cols());
  Record record{.mean = Series(theta.cols()), .square = Series(theta.cols())};
  for (int k = 0; k < f.steps; ++k) {
    flow.velocity(theta, problem.score(theta), v);
    optimizer.ascend(theta, v);
    Stream noise({.seed = 9, .purpose = Purpose::diffusion, .step = static_cast<std::uint32_t>(k)});
    add_diffusion<double>(flow.temperature(), f.step, noise, theta);
    if (k < f.steps / 5) continue;
    const VectorXd mean = cloud_mean(theta);
    const VectorXd square = cloud_variance(theta) + (mean - exact_mean).cwiseAbs2();
    for (std::size_t l = 0; l < theta.cols(); ++l) {
      record.mean[l].push_back(mean[static_cast<Eigen::Index>(l)]);
      record.square[l].push_back(square[static_cast<Eigen::Index>(l)]);
    }
  }
  return record;
}

TEST_P(Posterior, NoisyFlowsHaveTheMeanAndTheVarianceOverTime) {
  const int d = GetParam();
  const LinearRegression problem = correlated_regression(d, problem_seed);
  const Gaussian posterior = problem.posterior();
  for (const Noisy& f : noisy_flows()) {
    const Record record = run_noisy(f, problem, posterior.mean,
                                    normal_cloud(M, static_cast<std::size_t>(d), 1.0, VectorXd::Ones(d), cloud_seed));
    VectorXd mean(d);
    VectorXd square(d);
    double worst_z = 0.0;
    double worst_se = 0.0;  // of a variance ratio
    for (int l = 0; l < d; ++l) {
      const Estimate m = batch_means(record.mean[static_cast<std::size_t>(l)]);
      const Estimate s = batch_means(record.square[static_cast<std::size_t>(l)]);
      mean[l] = m.mean;
      square[l] = s.mean;
      worst_z = std::max(worst_z, std::abs(m.mean - posterior.mean[l]) / m.standard_error);
      worst_se = std::max(worst_se, s.standard_error / posterior.covariance(l, l));
    }
    const Fit result = fit(posterior, mean, square);
    show(f.name, result, "mean off by " + std::to_string(worst_z) + " se, se of a ratio " + std::to_string(worst_se));
    EXPECT_LT(worst_z, 4.0) << f.name;
    EXPECT_GE(result.variance_ratio.minCoeff(), 0.9) << f.name;
    EXPECT_LE(result.variance_ratio.maxCoeff(), 1.1) << f.name;
  }
}

// A first-order autoregressive series has the variance of its mean in closed form: σ²/(n (1 − φ)²) for long series.
TEST(BatchMeans, AccountForAutocorrelation) {
  Stream stream({.seed = 3});
  const double phi = 0.9;
  const int n = 40000;
  std::vector<double> series(n);
  double x = 0.0;
  for (double& s : series) s = x = phi * x + stream.normal();
  const Estimate estimate = batch_means(series);
  const double exact = 1.0 / (1.0 - phi) / std::sqrt(n);
  EXPECT_NEAR(estimate.standard_error / exact, 1.0, 0.5);  // 20 batches: the error itself is known to 16 %
  EXPECT_LT(std::abs(estimate.mean), 4.0 * exact);
}

}  // namespace
}  // namespace pits
