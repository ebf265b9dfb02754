// The two parts of a velocity: closed forms for two particles, and the velocity itself.
#include <gtest/gtest.h>

#include <cmath>

#include "flow/variants.h"

namespace pits::test {
namespace {

Matrix<double> matrix_of(const Rows& rows) {
  Matrix<double> m(rows.size(), rows[0].size());
  for (std::size_t i = 0; i < rows.size(); ++i) std::ranges::copy(rows[i], m.row(i).begin());
  return m;
}

double norm(const Matrix<double>& m) {
  double sum = 0.0;
  for (const double x : m.flat()) sum += x * x;
  return std::sqrt(sum);
}

struct Blocks {
  explicit Blocks(const PlainCloud& c)
      : theta(matrix_of(c.theta)), score(matrix_of(c.score)), previous(matrix_of(c.previous)) {}
  Cloud<double> cloud() const { return {.theta = theta, .score = score, .previous = previous}; }
  Matrix<double> theta, score, previous;
};

// Two particles on a line, d apart, with scores 3 and −1.
constexpr double h = 2.0, d = 1.5;
const Blocks pair(PlainCloud{.theta = {{0.0}, {d}}, .score = {{3.0}, {-1.0}}, .previous = {{0.0}, {d}}});
const double k = std::exp(-d * d / h);

TEST(Forces, OfTwoParticlesUnderSvgd) {
  const Forces f = flow_forces({.kind = FlowKind::svgd, .bandwidth = Scale::fixed(h)}, pair.cloud());
  EXPECT_NEAR(f.drive, 0.5 * std::hypot(3.0 - k, -1.0 + 3.0 * k), 1e-12);
  EXPECT_NEAR(f.repulsion, std::sqrt(2.0) * 0.5 * (2.0 / h) * k * d, 1e-12);
}

TEST(Forces, OfTwoParticlesUnderBlob) {
  const Forces f = flow_forces({.kind = FlowKind::blob, .bandwidth = Scale::fixed(h), .entropy = 0.3}, pair.cloud());
  EXPECT_NEAR(f.drive, std::sqrt(10.0), 1e-12);
  EXPECT_NEAR(f.repulsion, std::sqrt(2.0) * 0.3 * (2.0 / h) * k * (2.0 / (1.0 + k)) * d, 1e-12);
}

// DGF without entropy is left with the transport: −(γ/M) Σ_j (c_ij/λ − 1) e^{−c_ij/λ} (θ_i − θ′_j).
TEST(Forces, OfTransportAlone) {
  const double lambda = 5.0;
  const FlowConfig config{.kind = FlowKind::dgf, .entropy = 0.0, .lambda = Scale::fixed(lambda), .gamma = 0.8};
  const double c = d * d / lambda;
  EXPECT_NEAR(flow_forces(config, pair.cloud()).repulsion, std::sqrt(2.0) * 0.4 * std::abs(c - 1.0) * std::exp(-c) * d,
              1e-12);
}

TEST(Forces, IndependentParticlesDoNotRepel) {
  const Blocks b(random_cloud(6, 4, 3));
  for (const FlowKind kind : {FlowKind::ensemble, FlowKind::sgld}) {
    const Forces f = flow_forces({.kind = kind}, b.cloud());
    EXPECT_EQ(f.repulsion, 0.0);
    EXPECT_NEAR(f.drive, norm(b.score), 1e-12);
  }
}

TEST(Forces, OneParticleAloneIsDrivenOnly) {
  const Blocks b(random_cloud(1, 4, 3));
  for (const Variant& flow : every_flow()) {
    const Forces f = flow_forces(flow.config, b.cloud());
    EXPECT_EQ(f.repulsion, 0.0) << flow.name;
    EXPECT_NEAR(f.drive, norm(b.score), 1e-12) << flow.name;
  }
}

// Copies of a flow in the middle of its run say what its next call does: with scores, and without.
TEST(Forces, AreThoseOfTheNextVelocity) {
  std::vector<Variant> flows = every_flow();
  for (FlowConfig c :
       {FlowConfig{.kind = FlowKind::dgf, .inner_steps = 3}, {.kind = FlowKind::dgf_sinkhorn, .inner_steps = 2}}) {
    flows.push_back({"jko", c});
  }
  for (const Variant& variant : flows) {
    Flow<double> flow(variant.config);
    Blocks b(random_cloud(5, 3, 9));
    for (int call = 0; call < 7; ++call) {
      const Forces f = flow.forces(b.theta, b.score);
      Matrix<double> v(5, 3), alone(5, 3), drive(5, 3), none(5, 3);
      Flow<double> without = flow;
      without.velocity(b.theta, none, alone);
      flow.velocity(b.theta, b.score, v);
      for (std::size_t l = 0; l < v.size(); ++l) drive.data()[l] = v.data()[l] - alone.data()[l];
      EXPECT_NEAR(f.drive, norm(drive), 1e-9 * (1.0 + norm(drive))) << variant.name << " call " << call;
      EXPECT_NEAR(f.repulsion, norm(alone), 1e-9 * (1.0 + norm(alone))) << variant.name << " call " << call;
      for (std::size_t l = 0; l < v.size(); ++l) b.theta.data()[l] += 0.05 * v.data()[l];
    }
  }
}

}  // namespace
}  // namespace pits::test
