#include "pits/flow/optimizer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "pits/core/error.h"
#include "pits/core/io/archive.h"

namespace pits {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// θ after each velocity, from θ = 1.
template <class T>
std::vector<double> path(const OptimizerConfig& config, const std::vector<double>& velocities) {
  Optimizer<T> optimizer(config);
  T theta{1};
  std::vector<double> steps;
  for (const double velocity : velocities) {
    T v = static_cast<T>(velocity);
    optimizer.ascend({&theta, 1, 1}, {&v, 1, 1});
    steps.push_back(static_cast<double>(theta));
  }
  return steps;
}

void expect_path(const OptimizerConfig& config, const std::vector<double>& velocities,
                 const std::vector<double>& expected) {
  const std::vector<double> exact = path<double>(config, velocities);
  const std::vector<double> single = path<float>(config, velocities);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(exact[k], expected[k], 5e-9) << "step " << k;
    EXPECT_NEAR(single[k], expected[k], 1e-6) << "step " << k;
  }
}

TEST(Optimizer, SgdByHand) { expect_path({.rule = Rule::sgd, .step = 0.1}, {2, -1, 2}, {1.2, 1.1, 1.3}); }

// Sums of squares 4, 5, 9.
TEST(Optimizer, AdagradByHand) {
  expect_path({.rule = Rule::adagrad, .step = 0.1}, {2, -1, 2}, {1.1, 1.0552786405, 1.1219453071});
}

// From 1 the mean of squares is 0.75 + 0.25·4 = 1.75, then 0.75·1.75 + 0.25·1 = 1.5625 = 1.25².
TEST(Optimizer, RmspropMayStartWithAMeanOfSquares) {
  expect_path({.rule = Rule::rmsprop, .step = 0.1, .second_moment = 0.75, .first_square = 1.0}, {2, -1},
              {1.0 + 0.2 / std::sqrt(1.75), 1.0 + 0.2 / std::sqrt(1.75) - 0.1 / 1.25});
}

TEST(Optimizer, RestartBringsBackTheFirstStepOfTheSchedule) {
  for (const bool restart : {false, true}) {
    Optimizer<double> optimizer(
        {.rule = Rule::sgd, .step = 0.1, .schedule = Schedule::inverse, .decay = 0.5, .restart = restart});
    Matrix<double> theta(1, 1), velocity(1, 1);
    optimizer.begin_training();
    for (int k = 0; k < 4; ++k) optimizer.ascend(theta, velocity);
    EXPECT_DOUBLE_EQ(optimizer.next_step_size(), 0.1 / 3.0);
    optimizer.begin_training();
    EXPECT_DOUBLE_EQ(optimizer.next_step_size(), restart ? 0.1 : 0.1 / 3.0);
    EXPECT_EQ(optimizer.steps_done(), 4);
  }
}

// Mean squares 1, 1, 7/4.
TEST(Optimizer, RmspropByHand) {
  expect_path({.rule = Rule::rmsprop, .step = 0.1, .second_moment = 0.75}, {2, -1, 2}, {1.2, 1.1, 1.2511857892});
}

// Corrected means 2, −2/3, 2; corrected squares 4, 4, 5.3125/0.578125.
TEST(Optimizer, AdamByHand) {
  expect_path({.rule = Rule::adam, .step = 0.1, .momentum = 0.5, .second_moment = 0.75}, {2, -2, 4},
              {1.1, 1.1 - 0.1 / 3, 1.1326434897});
}

TEST(Optimizer, SignByHand) { expect_path({.rule = Rule::sign, .step = 0.1}, {2, -1, 30}, {1.1, 1.0, 1.1}); }

TEST(Optimizer, EpsilonIsAddedToTheRootAndNotUnderIt) {
  for (const Rule rule : {Rule::adagrad, Rule::adam, Rule::sign}) {
    expect_path({.rule = rule, .step = 0.3, .epsilon = 1.0}, {2}, {1.0 + 0.3 * 2 / (2 + 1)});
  }
  expect_path({.rule = Rule::rmsprop, .step = 0.3, .second_moment = 0.75, .epsilon = 1.0}, {2}, {1.0 + 0.3 * 2 / 2});
}

TEST(Optimizer, ZeroVelocityStaysForEveryRuleAndAnyAdmittedEpsilon) {
  for (const Rule rule : {Rule::sgd, Rule::adagrad, Rule::rmsprop, Rule::adam, Rule::sign}) {
    for (const double epsilon : {1e-8, 1e-30}) {
      const OptimizerConfig config{.rule = rule, .step = 0.1, .epsilon = epsilon};
      EXPECT_EQ(path<float>(config, {0, 0}), (std::vector<double>{1, 1}));
    }
  }
}

TEST(Schedule, ConstantStays) {
  EXPECT_EQ(step_size({.step = 0.5, .schedule = Schedule::constant, .decay = 3.0}, 1000), 0.5);
}

TEST(Schedule, InverseDividesByOnePlusDecayTimesSteps) {
  const OptimizerConfig config{.step = 0.5, .schedule = Schedule::inverse, .decay = 0.25};
  EXPECT_DOUBLE_EQ(step_size(config, 0), 0.5);
  EXPECT_DOUBLE_EQ(step_size(config, 4), 0.25);
}

TEST(Schedule, ExponentialHalvesEveryLnTwoOverDecaySteps) {
  const OptimizerConfig config{.step = 2.0, .schedule = Schedule::exponential, .decay = std::numbers::ln2};
  EXPECT_DOUBLE_EQ(step_size(config, 0), 2.0);
  EXPECT_DOUBLE_EQ(step_size(config, 3), 0.25);
}

// 1, 1/2, 1/3: the harmonic numbers.
TEST(Schedule, AdvancesWithEveryStepOfTheOptimizer) {
  expect_path({.rule = Rule::sgd, .step = 1.0, .schedule = Schedule::inverse, .decay = 1.0}, {1, 1, 1},
              {2, 2.5, 2.5 + 1.0 / 3});
}

TEST(Optimizer, CountsItsSteps) {
  Optimizer<double> optimizer({.step = 1.0, .schedule = Schedule::inverse, .decay = 1.0});
  Matrix<double> theta(1, 1);
  Matrix<double> v(1, 1);
  EXPECT_EQ(optimizer.steps_done(), 0);
  for (int k = 0; k < 3; ++k) optimizer.ascend(theta, v);
  EXPECT_EQ(optimizer.steps_done(), 3);
  EXPECT_DOUBLE_EQ(optimizer.next_step_size(), 0.25);
}

double norm(std::span<const float> row) {
  return std::sqrt(
      std::transform_reduce(row.begin(), row.end(), 0.0, std::plus<>(), [](float x) { return 1.0 * x * x; }));
}

RC_GTEST_PROP(ClipRows, ScalesLongRowsToTheLimitAndLeavesShortOnesAsTheyAre, ()) {
  const auto rows = *rc::gen::inRange<std::size_t>(1, 6);
  const auto cols = *rc::gen::inRange<std::size_t>(1, 20);
  const double limit = *rc::gen::inRange(1, 2000) / 100.0;
  Matrix<float> before(rows, cols);
  for (float& x : before.flat()) x = static_cast<float>(*rc::gen::inRange(-500, 501)) / 100.0F;
  Matrix<float> after = before;
  clip_rows<float>(after, limit);
  for (std::size_t i = 0; i < rows; ++i) {
    const double length = norm(before.row(i));
    const double scale = length > limit ? limit / length : 1.0;
    for (std::size_t j = 0; j < cols; ++j) {
      RC_ASSERT(std::abs(after(i, j) - scale * before(i, j)) <= 1e-7 * std::abs(before(i, j)));
    }
    if (length <= limit) RC_ASSERT(std::ranges::equal(after.row(i), before.row(i)));
    RC_ASSERT(norm(after.row(i)) <= limit * (1.0 + 1e-6));
  }
}

TEST(ClipRows, ZeroDoesNotClip) {
  Matrix<double> v(1, 2);
  v(0, 0) = 3e8;
  clip_rows<double>(v, 0.0);
  EXPECT_EQ(v(0, 0), 3e8);
}

TEST(Optimizer, ClipsEachParticleBeforeTheStep) {
  Optimizer<double> optimizer({.rule = Rule::sgd, .step = 1.0, .clip = 1.0});
  Matrix<double> theta(2, 2);
  Matrix<double> v(2, 2);
  v(0, 0) = 3.0, v(0, 1) = -4.0, v(1, 0) = 0.25;
  optimizer.ascend(theta, v);
  EXPECT_DOUBLE_EQ(theta(0, 0), 0.6);
  EXPECT_DOUBLE_EQ(theta(0, 1), -0.8);
  EXPECT_DOUBLE_EQ(theta(1, 0), 0.25);
  EXPECT_DOUBLE_EQ(v(0, 0), 0.6);
}

TEST(Optimizer, RefusesAVelocityOfAnotherShape) {
  Optimizer<float> optimizer({.rule = Rule::sgd, .step = 1.0});
  Matrix<float> theta(3, 2);
  Matrix<float> v(2, 2);
  EXPECT_THROW(optimizer.ascend(theta, v), Error);
}

TEST(Optimizer, RefusesSomeColumnsOfAMatrix) {
  Optimizer<float> optimizer({.rule = Rule::sgd, .step = 1.0});
  Matrix<float> theta(3, 2);
  Matrix<float> v(3, 4);
  EXPECT_THROW(optimizer.ascend(theta, v.view().columns(0, 2)), Error);
}

struct Objective {
  std::function<void(double x, double y, double& dx, double& dy)> gradient;
  double x, y;  // the minimum
};

const Objective sphere{[](double x, double y, double& dx, double& dy) { dx = 2 * x, dy = 2 * y; }, 0, 0};
// (x + 2y − 7)² + (2x + y − 5)²
const Objective booth{[](double x, double y, double& dx, double& dy) {
                        dx = 10 * x + 8 * y - 34;
                        dy = 8 * x + 10 * y - 38;
                      },
                      1, 3};
// (1 − x)² + 100 (y − x²)²
const Objective rosenbrock{[](double x, double y, double& dx, double& dy) {
                             dx = -2 * (1 - x) - 400 * x * (y - x * x);
                             dy = 200 * (y - x * x);
                           },
                           1, 1};

// Two particles from different starts ascend −f.
void expect_minimum(const OptimizerConfig& config, const Objective& f, int steps, double tolerance) {
  SCOPED_TRACE(format_value(config.rule));
  Optimizer<double> optimizer(config);
  Matrix<double> theta(2, 2);
  Matrix<double> v(2, 2);
  theta(0, 0) = -1.2, theta(0, 1) = 1.0, theta(1, 0) = 2.0, theta(1, 1) = 2.5;
  for (int k = 0; k < steps; ++k) {
    for (std::size_t i = 0; i < 2; ++i) {
      f.gradient(theta(i, 0), theta(i, 1), v(i, 0), v(i, 1));
      for (double& x : v.row(i)) x = -x;
    }
    optimizer.ascend(theta, v);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(theta(i, 0), f.x, tolerance);
    EXPECT_NEAR(theta(i, 1), f.y, tolerance);
  }
}

void expect_minimum_by_every_rule(const Objective& f) {
  constexpr Schedule cooling = Schedule::exponential;
  expect_minimum({.rule = Rule::sgd, .step = 0.05}, f, 500, 1e-6);
  expect_minimum({.rule = Rule::adagrad, .step = 1.0}, f, 2000, 1e-6);
  expect_minimum({.rule = Rule::rmsprop, .step = 0.1, .schedule = cooling, .decay = 0.005}, f, 4000, 1e-6);
  expect_minimum({.rule = Rule::adam, .step = 0.1, .schedule = cooling, .decay = 0.002}, f, 5000, 1e-6);
  expect_minimum({.rule = Rule::sign, .step = 0.1, .schedule = cooling, .decay = 0.005}, f, 4000, 1e-6);
}

TEST(Optimizer, EveryRuleFindsTheMinimumOfTheSphere) { expect_minimum_by_every_rule(sphere); }
TEST(Optimizer, EveryRuleFindsTheMinimumOfBooth) { expect_minimum_by_every_rule(booth); }
TEST(Optimizer, AdamFindsTheMinimumOfRosenbrock) {
  expect_minimum({.rule = Rule::adam, .step = 0.01}, rosenbrock, 20000, 1e-4);
}
TEST(Optimizer, ClippedSgdFindsTheMinimumOfRosenbrock) {
  expect_minimum({.rule = Rule::sgd, .step = 5e-4, .clip = 10.0}, rosenbrock, 100000, 1e-4);
}

void expect_refused(const OptimizerConfig& config, const std::string& field) {
  try {
    const Optimizer<float> optimizer(config);
    ADD_FAILURE() << field << " was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 3);
    EXPECT_TRUE(std::string(e.what()).starts_with(field + ": must be ")) << e.what();
  }
}

TEST(Optimizer, RefusesBadConfigsByTheNameOfTheField) {
  for (const double bad : {0.0, -1.0, nan, infinity}) expect_refused({.step = bad}, "step");
  for (const double bad : {-1.0, nan, infinity}) expect_refused({.decay = bad}, "decay");
  for (const double bad : {-1.0, nan, infinity}) expect_refused({.clip = bad}, "clip");
  for (const double bad : {-0.1, 1.0, nan}) expect_refused({.momentum = bad}, "momentum");
  for (const double bad : {-0.1, 1.0, nan}) expect_refused({.second_moment = bad}, "second_moment");
  // 1e-50 is zero as a float, and 0/0 would follow.
  for (const double bad : {0.0, -1.0, nan, 1e-50}) expect_refused({.epsilon = bad}, "epsilon");
}

// All rules, two steps, the columns in three parts.
TEST(Optimizer, ColumnsAscendAsAllDo) {
  for (const Rule rule : {Rule::sgd, Rule::adagrad, Rule::rmsprop, Rule::adam, Rule::sign}) {
    Matrix<float> whole(3, 50), parts(3, 50), v(3, 50);
    for (std::size_t l = 0; l < v.size(); ++l) v.data()[l] = std::sin(static_cast<float>(l));
    Optimizer<float> one({.rule = rule}), other({.rule = rule});
    for (int step = 0; step < 2; ++step) {
      one.ascend(whole, v);
      other.begin_step(3, 50);
      for (const auto& [first, count] : {std::pair{20, 30}, std::pair{0, 7}, std::pair{7, 13}}) {
        other.ascend_columns(first, parts.view().columns(first, count), v.view().columns(first, count));
      }
    }
    EXPECT_TRUE(std::ranges::equal(whole.flat(), parts.flat())) << format_value(rule);
    EXPECT_EQ(other.steps_done(), 2);
  }
}

TEST(Optimizer, ClippingNeedsAllColumns) {
  Matrix<float> theta(2, 4), v(2, 4);
  Optimizer<float> optimizer({.clip = 1.0});
  optimizer.begin_step(2, 4);
  EXPECT_THROW(optimizer.ascend_columns(0, theta.view().columns(0, 2), v.view().columns(0, 2)), Error);
  EXPECT_NO_THROW(optimizer.ascend_columns(0, theta, v));
}

// The state as it is saved: steps done, the step at which the schedule began, two matrices.
bool loads(std::int64_t steps, std::int64_t schedule_start) {
  Archive file;
  Matrix<float> none;
  file(steps, schedule_start, none, none);
  Archive archive(file.bytes());
  Optimizer<float> optimizer(OptimizerConfig{});
  try {
    archive(optimizer);
  } catch (const Error&) {
    return false;
  }
  return true;
}

TEST(Optimizer, RefusesSavedStepsThatCannotBe) {
  constexpr std::int64_t most = std::int64_t{1} << 53;  // beyond it a double skips integers
  EXPECT_TRUE(loads(0, 0));
  EXPECT_TRUE(loads(7, 7));
  EXPECT_TRUE(loads(most, 3));
  EXPECT_FALSE(loads(-1, 0));
  EXPECT_FALSE(loads(-1, -1));
  EXPECT_FALSE(loads(7, -1));
  EXPECT_FALSE(loads(7, 8));
  EXPECT_FALSE(loads(most + 1, 0));
  EXPECT_FALSE(loads(std::numeric_limits<std::int64_t>::max(), 0));
}

}  // namespace
}  // namespace pits
