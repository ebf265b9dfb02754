#include "pits/flow/mover.h"

#include <gtest/gtest.h>

#include <algorithm>
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

Matrix<float> random_block(std::size_t rows, std::size_t cols, std::uint32_t step) {
  Stream stream({.seed = 8, .purpose = Purpose::target_sample, .step = step});
  Matrix<float> block(rows, cols);
  stream.fill_normal(block.flat());
  return block;
}

// More columns than are moved at a time, against the velocity of all columns and then a step of all.
TEST(Mover, ColumnsMoveAsInOneStepOfAll) {
  constexpr std::size_t M = 5, P = 30'000;
  for (const FlowKind kind :
       {FlowKind::ensemble, FlowKind::svgd, FlowKind::dgf, FlowKind::dgf_sinkhorn, FlowKind::blob, FlowKind::spos}) {
    for (const double clip : {0.0, 1.0}) {
      const FlowConfig flow_config{.kind = kind};
      const OptimizerConfig optimizer_config{
          .rule = kind == FlowKind::spos ? Rule::sgd : Rule::adam, .step = 1e-2, .clip = clip};
      Matrix<float> moved = random_block(M, P, 0), theta = moved, v(M, P);
      Mover<float> mover(flow_config, optimizer_config, {.seed = 1});
      Flow<float> flow(flow_config);
      Optimizer<float> optimizer(optimizer_config);
      for (std::uint32_t step = 1; step <= 3; ++step) {
        const Matrix<float> score = random_block(M, P, step);
        mover.step(moved.view(), score);
        flow.velocity(theta, score, v);
        const double size = optimizer.next_step_size();
        optimizer.ascend(theta, v);
        if (kind == FlowKind::spos) {
          Stream noise({.seed = 1, .purpose = Purpose::diffusion, .step = step - 1});
          add_diffusion<float>(flow.temperature(), size, noise, theta);
        }
        EXPECT_FALSE(mover.diverged());
      }
      EXPECT_TRUE(std::ranges::equal(moved.flat(), theta.flat())) << format_value(kind) << " clipped at " << clip;
    }
  }
}

// The last column is in the last chunk.
TEST(Mover, SaysWhereACoordinateIsNoNumberOrTooLarge) {
  constexpr std::size_t P = 70'000;
  for (const float bad : {std::nanf(""), 1e16F, -1e16F}) {
    Matrix<float> theta(2, P), score(2, P);
    Mover<float> mover({.kind = FlowKind::ensemble}, {.rule = Rule::sgd, .step = 1.0}, {.seed = 1});
    mover.step(theta.view(), score);
    EXPECT_FALSE(mover.diverged());
    score(1, P - 1) = bad;
    mover.step(theta.view(), score);
    EXPECT_TRUE(mover.diverged());
  }
}

}  // namespace
}  // namespace pits
