#include "pits/posterior/gradient_design.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "pits/core/random.h"

namespace pits {
namespace {

std::vector<std::vector<float>> gradients(std::size_t n, std::size_t P) {
  Stream stream({.seed = 4, .purpose = Purpose::target_sample});
  std::vector<std::vector<float>> g(n, std::vector<float>(P));
  for (auto& row : g) stream.fill_normal(row);
  return g;
}

Eigen::VectorXd wide(const std::vector<float>& g) {
  Eigen::VectorXd v(static_cast<Eigen::Index>(g.size()));
  std::ranges::copy(g, v.begin());
  return v;
}

TEST(GradientDesign, FullIsTheInverseOfTheSum) {
  const auto g = gradients(31, 12);
  GradientDesign design({.kind = DesignKind::full, .lambda = 0.5}, 12);
  Eigen::MatrixXd Z = 0.5 * Eigen::MatrixXd::Identity(12, 12);
  for (std::size_t i = 0; i < 30; ++i) {
    design.add(g[i]);
    Z += wide(g[i]) * wide(g[i]).transpose();
  }
  const Eigen::VectorXd v = wide(g[30]);
  EXPECT_NEAR(design.norm(g[30]), std::sqrt(v.dot(Z.inverse() * v)), 1e-10);
}

// Z = diag(2 + 1 + 9, 2 + 4 + 0) after (1, 2) and (3, 0); (2, 3): √(4/12 + 9/6).
TEST(GradientDesign, DiagonalByHand) {
  GradientDesign design({.kind = DesignKind::diagonal, .lambda = 2.0}, 2);
  design.add(std::vector<float>{1.0F, 2.0F});
  design.add(std::vector<float>{3.0F, 0.0F});
  EXPECT_NEAR(design.norm(std::vector<float>{2.0F, 3.0F}), std::sqrt(4.0 / 12.0 + 9.0 / 6.0), 1e-12);
}

TEST(GradientDesign, BothAreTheRidgeBeforeAnyObservation) {
  for (const DesignKind kind : {DesignKind::diagonal, DesignKind::full}) {
    const GradientDesign design({.kind = kind, .lambda = 4.0}, 2);
    EXPECT_NEAR(design.norm(std::vector<float>{3.0F, 4.0F}), 2.5, 1e-12);
  }
}

TEST(GradientDesign, FullRefusesLargeNetworksAndNamesTheirSize) {
  EXPECT_NO_THROW(GradientDesign({.kind = DesignKind::diagonal}, 2001));
  EXPECT_NO_THROW(GradientDesign({.kind = DesignKind::full}, 50));
  try {
    const GradientDesign design({.kind = DesignKind::full}, 2001);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("2001"), std::string::npos);
  }
}

}  // namespace
}  // namespace pits
