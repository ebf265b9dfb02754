// The flows as gradient flows of the free energy (the paper's Eqs. 1, 3 and 4), against the closed forms of a Gaussian
// target N(0, I).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "flow/placed.h"
#include "flow/runs.h"
#include "pits/flow/energy.h"

namespace pits {
namespace {

using namespace test;
using Eigen::VectorXd;

// What a run in small plain steps passes through.
struct Moment {
  double time;
  VectorXd mean;
  VectorXd variance;
  double free_energy;
};

std::vector<Moment> integrate(const FlowConfig& config, Matrix<double> theta, double step, int steps, int every) {
  const Gaussian target = standard_gaussian(static_cast<Eigen::Index>(theta.cols()));
  Flow<double> flow(config);
  Optimizer<double> optimizer({.rule = Rule::sgd, .step = step});
  Matrix<double> v(theta.rows(), theta.cols());
  Workspace<double> w;
  std::vector<Moment> moments;
  for (int k = 0; k <= steps; ++k) {
    if (k % every == 0) {
      moments.push_back({.time = k * step,
                         .mean = cloud_mean(theta),
                         .variance = cloud_variance(theta),
                         .free_energy = free_energy<double>(theta, target.log_density(theta), config.bandwidth, w)});
    }
    flow.velocity(theta, target.score(theta), v);
    optimizer.ascend(theta, v);
  }
  return moments;
}

struct Start {
  int d;
  double sd;
};

class GradientFlow : public ::testing::TestWithParam<Start> {};
INSTANTIATE_TEST_SUITE_P(NarrowAndWide, GradientFlow,
                         ::testing::Values(Start{1, 0.5}, Start{1, 2.0}, Start{2, 0.5}, Start{2, 2.0}),
                         [](const auto& start) {
                           return "d" + std::to_string(start.param.d) + (start.param.sd < 1.0 ? "Narrow" : "Wide");
                         });

constexpr double initial_mean = 2.0;

Matrix<double> placed(const Start& start) {
  return start.d == 1 ? quantile_line(200, initial_mean, start.sd) : quantile_spiral(200, initial_mean, start.sd);
}

// Well above the squared spacing of 200 particles, well below the target's variance.
Scale bandwidth(const Start& start) { return Scale::fixed(start.d == 1 ? 0.05 : 0.25); }

// Eq. 1 for the energy of Eq. 3 is the Fokker-Planck equation of the Ornstein-Uhlenbeck process:
// m(t) = m₀ e^{−t}, s²(t) = 1 + (s₀² − 1) e^{−2t}.
TEST_P(GradientFlow, BlobFollowsTheOrnsteinUhlenbeckSolution) {
  const Start start = GetParam();
  double mean_error = 0.0;
  double variance_error = 0.0;
  const FlowConfig blob{.kind = FlowKind::blob, .bandwidth = bandwidth(start)};
  for (const Moment& now : integrate(blob, placed(start), 0.005, 400, 20)) {
    const double m = initial_mean * std::exp(-now.time);
    const double s2 = 1.0 + (start.sd * start.sd - 1.0) * std::exp(-2.0 * now.time);
    mean_error = std::max(mean_error, (now.mean.array() - m).abs().maxCoeff());
    variance_error = std::max(variance_error, (now.variance.array() / s2 - 1.0).abs().maxCoeff());
  }
  std::printf("Ornstein-Uhlenbeck  d = %d  s0 = %.1f  mean off by %.4f  variance off by %.2f %%\n", start.d, start.sd,
              mean_error, 100.0 * variance_error);
  RecordProperty("mean_error", std::to_string(mean_error));
  RecordProperty("variance_error", std::to_string(variance_error));
  EXPECT_LT(mean_error, 0.003);  // Euler's error m₀ t e^{−t} step/2 is 0.0018 at its largest
  EXPECT_LT(variance_error, start.d == 1 ? 0.015 : 0.07);
}

TEST_P(GradientFlow, FreeEnergyFallsAllTheWay) {
  const Start start = GetParam();
  for (const FlowKind kind : {FlowKind::blob, FlowKind::gfsd}) {
    double before = INFINITY;
    std::string line;
    for (const Moment& now : integrate({.kind = kind, .bandwidth = bandwidth(start)}, placed(start), 0.005, 400, 20)) {
      EXPECT_LT(now.free_energy, before) << "at time " << now.time;
      before = now.free_energy;
      if (line.empty()) line = std::to_string(now.free_energy);
    }
    std::printf("free energy  d = %d  s0 = %.1f  %s  %s to %.4f\n", start.d, start.sd, format_value(kind).c_str(),
                line.c_str(), before);
    EXPECT_LT(before, start.d == 1 ? 0.06 : 0.12);  // the divergence from the target is nearly gone
  }
}

struct Jko {
  double h;   // the scheme's step
  double s0;  // sd before the step
};

// Inner steps of 0.01 until the cloud rests: argmin KL(μ‖N(0,1)) + W₂²(μ, μ′)/2h, μ′ held.
Rest jko_step(const Jko& jko, Drive drive, double step, int steps) {
  const FlowConfig config{.kind = FlowKind::dgf_sinkhorn,
                          .bandwidth = Scale::fixed(0.05),
                          .drive = drive,
                          .lambda = Scale::fixed(0.2),
                          .tau = jko.h,
                          .inner_steps = steps};
  return run_to_rest(standard_gaussian(1), config, {.rule = Rule::sgd, .step = step}, steps,
                     quantile_line(50, 1.0, jko.s0));
}

// Eq. 4 for Gaussians against N(0,1): m⁺ = m/(1+h), s⁺ the positive root of (1+h)s² − s₀ s − h = 0.
TEST(JkoStep, OfBlobsDriveHasTheGaussiansClosedForm) {
  for (const Jko& jko : {Jko{0.2, 0.5}, Jko{0.2, 2.0}, Jko{1.0, 0.5}, Jko{1.0, 2.0}}) {
    const double m = 1.0 / (1.0 + jko.h);
    const double s = (jko.s0 + std::sqrt(jko.s0 * jko.s0 + 4.0 * (1.0 + jko.h) * jko.h)) / (2.0 * (1.0 + jko.h));
    const Rest rest = jko_step(jko, Drive::blob, 0.01, 400);
    const double mean = cloud_mean(rest.theta)[0];
    const double sd = std::sqrt(cloud_variance(rest.theta)[0]);
    std::printf("JKO step  h = %.1f  s0 = %.1f  mean %.4f (exact %.4f)  sd %.4f (exact %.4f)\n", jko.h, jko.s0, mean, m,
                sd, s);
    RecordProperty("sd_h" + format_value(jko.h) + "_s" + format_value(jko.s0), std::to_string(sd / s));
    EXPECT_NEAR(mean, m, 1e-3);
    EXPECT_NEAR(sd / s, 1.0, 0.015);
    EXPECT_LT(rest.last_speed, 0.01 * rest.first_speed);
  }
}

// SVGD's drive is the descent weighed by the kernel. Its mean over the cloud is −κm with κ = (1/M²) Σ_ij k_ij, for a
// Gaussian cloud √(h_k/(h_k + 4s²)), h_k the bandwidth: the step's mean is m/(1 + κh), short of Eq. 4's m/(1 + h).
TEST(JkoStep, OfSvgdsDriveIsShorterByTheShareOfNeighbours) {
  const Rest rest = jko_step({1.0, 2.0}, Drive::svgd, 0.05, 300);
  const double mean = cloud_mean(rest.theta)[0];
  const double variance = cloud_variance(rest.theta)[0];
  const double kappa = std::sqrt(0.05 / (0.05 + 4.0 * variance));
  std::printf("JKO step  h = 1.0  s0 = 2.0  with SVGD's drive: mean %.4f (exact 0.5000)  sd %.4f (exact 1.3660)\n",
              mean, std::sqrt(variance));
  EXPECT_NEAR(mean, 1.0 / (1.0 + kappa), 0.005);
}

}  // namespace
}  // namespace pits
