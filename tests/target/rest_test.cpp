// Where a sampling run comes to rest, against the same run by plain loops.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "flow/variants.h"
#include "pits/target/sampling.h"

namespace pits::test {
namespace {

using Variances = std::array<double, 2>;

// (1/M) Σ_i x_i² of each coordinate; the target's mean is 0.
Variances variances(const Rows& theta) {
  Variances v{};
  for (const Row& row : theta) {
    for (std::size_t l = 0; l < 2; ++l) v[l] += row[l] * row[l] / static_cast<double>(theta.size());
  }
  return v;
}

Rows rows_of(const Matrix<double>& a) {
  Rows rows;
  for (std::size_t i = 0; i < a.rows(); ++i) rows.emplace_back(a.row(i).begin(), a.row(i).end());
  return rows;
}

// −Σ⁻¹θ for variances 1.0 and 0.5 and covariance 0.4.
Rows gaussian_scores(const Rows& theta) {
  constexpr double determinant = 1.0 * 0.5 - 0.4 * 0.4;
  Rows score;
  for (const Row& t : theta) {
    score.push_back({-(0.5 * t[0] - 0.4 * t[1]) / determinant, -(1.0 * t[1] - 0.4 * t[0]) / determinant});
  }
  return score;
}

// Adam (Kingma and Ba 2015, algorithm 1) along the velocities of docs/method.md, section 2.
Rows plain_run(const FlowConfig& flow, Rows theta, int steps) {
  Rows first = zeros(theta.size(), 2), second = first, previous = theta;
  for (int t = 1; t <= steps; ++t) {
    const Rows v = plain_velocity(flow, {.theta = theta, .score = gaussian_scores(theta), .previous = previous});
    previous = theta;
    for (std::size_t i = 0; i < theta.size(); ++i) {
      for (std::size_t l = 0; l < 2; ++l) {
        first[i][l] = 0.9 * first[i][l] + 0.1 * v[i][l];
        second[i][l] = 0.999 * second[i][l] + 0.001 * v[i][l] * v[i][l];
        const double mean = first[i][l] / (1.0 - std::pow(0.9, t));
        theta[i][l] += 0.05 * mean / (std::sqrt(second[i][l] / (1.0 - std::pow(0.999, t))) + 1e-8);
      }
    }
  }
  return theta;
}

SampleResult run(FlowKind kind) {
  return run_sampling(
      {.target = "gaussian", .flow = {.kind = kind}, .particles = 40, .iterations = 600, .record_every = 600});
}

class Rest : public testing::TestWithParam<FlowKind> {};
INSTANTIATE_TEST_SUITE_P(Flows, Rest, testing::Values(FlowKind::svgd, FlowKind::blob, FlowKind::gfsd, FlowKind::dgf),
                         [](const auto& flow) { return format_value(flow.param); });

// Both start at the same particles, so that rounding alone tells them apart.
TEST_P(Rest, HasTheVariancesOfThePlainLoops) {
  const SampleResult result = run(GetParam());
  const Variances v = variances(rows_of(result.frames.back().particles));
  const Variances plain = variances(plain_run({.kind = GetParam()}, rows_of(result.frames.front().particles), 600));
  std::printf("rest  %-6s off by %.1e %.1e\n", format_value(GetParam()).c_str(), v[0] - plain[0], v[1] - plain[1]);
  for (std::size_t l = 0; l < 2; ++l) EXPECT_NEAR(v[l], plain[l], 1e-3);
}

// The order of the spreads in docs/flows.md: SVGD keeps most, GFSD's smoothed density less, DGF's constant multipliers
// less again; the target's 1.5 is above them all, and without repulsion nothing is left but Adam's last steps.
TEST(RestOrder, IsTheKnownOne) {
  double wider = 1.5;
  for (const FlowKind kind : {FlowKind::svgd, FlowKind::gfsd, FlowKind::dgf, FlowKind::ensemble}) {
    const Variances v = variances(rows_of(run(kind).frames.back().particles));
    EXPECT_LT(v[0] + v[1], wider) << format_value(kind);
    wider = v[0] + v[1];
  }
  EXPECT_LT(wider, 1e-4);
}

}  // namespace
}  // namespace pits::test
