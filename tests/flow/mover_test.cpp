#include "pits/flow/mover.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pits {
namespace {

std::string refusal(const FlowConfig& flow, const OptimizerConfig& optimizer) {
  try {
    check_fit(flow, optimizer);
    return {};
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(CheckFit, NoisyFlowsNeedPlainSteps) {
  for (const FlowKind kind : {FlowKind::spos, FlowKind::sgld}) {
    EXPECT_NE(refusal({.kind = kind}, {.rule = Rule::adam}).find("optimizer=sgd"), std::string::npos);
    EXPECT_EQ(refusal({.kind = kind}, {.rule = Rule::sgd}), "");
  }
  EXPECT_EQ(refusal({.kind = FlowKind::spos, .beta = 0.0}, {.rule = Rule::adam}), "");
}

TEST(CheckFit, SinkhornNeedsATauOfTenPlainSteps) {
  const FlowConfig flow{.kind = FlowKind::dgf_sinkhorn, .tau = 0.9};
  EXPECT_NE(refusal(flow, {.rule = Rule::sgd, .step = 0.1}).find("tau must be at least 1"), std::string::npos);
  EXPECT_EQ(refusal(flow, {.rule = Rule::sgd, .step = 0.09}), "");
  EXPECT_EQ(refusal(flow, {.rule = Rule::adam, .step = 0.1}), "");
  EXPECT_EQ(refusal({.kind = FlowKind::svgd, .tau = 0.9}, {.rule = Rule::sgd, .step = 0.1}), "");
}

// One particle, score −θ: θ₁ = θ₀ − step·θ₀ for a flow without noise.
TEST(Mover, TakesAPlainStepAlongTheScore) {
  Matrix<double> theta(1, 2);
  theta(0, 0) = 2.0;
  theta(0, 1) = -4.0;
  Matrix<double> score(1, 2);
  score(0, 0) = -2.0;
  score(0, 1) = 4.0;
  Mover<double> mover({.kind = FlowKind::svgd}, {.rule = Rule::sgd, .step = 0.25}, {.seed = 1});
  mover.step(theta.view(), score);
  EXPECT_DOUBLE_EQ(theta(0, 0), 1.5);
  EXPECT_DOUBLE_EQ(theta(0, 1), -3.0);
  EXPECT_EQ(mover.steps_done(), 1);
}

// With zero scores a step of SGLD is N(0, 2·step), of SPOS N(0, 2β·step): variances within 5 standard errors, and
// another draw at every step.
TEST(Mover, NoiseHasTheVarianceOfTheStep) {
  constexpr std::size_t n = 20000;
  const double step = 0.03;
  for (const auto& [kind, temperature] : {std::pair{FlowKind::sgld, 1.0}, std::pair{FlowKind::spos, 0.4}}) {
    Mover<double> mover({.kind = kind, .beta = 0.4}, {.rule = Rule::sgd, .step = step}, {.seed = 3});
    Matrix<double> theta(1, n);
    const Matrix<double> score(1, n);
    mover.step(theta.view(), score);
    const double first = theta(0, 0);
    double square = 0.0;
    for (const double x : theta.flat()) square += x * x / n;
    const double expected = 2.0 * temperature * step;
    EXPECT_NEAR(square, expected, 5.0 * expected * std::sqrt(2.0 / n));
    mover.step(theta.view(), score);
    EXPECT_NE(theta(0, 0), 2.0 * first);
  }
}

}  // namespace
}  // namespace pits
