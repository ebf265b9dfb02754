#include "pits/flow/sinkhorn.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "flow/plain_loops.h"
#include "pits/core/error.h"
#include "pits/core/random.h"

namespace pits {
namespace {

Matrix<double> random_costs(std::size_t M, std::uint64_t seed, double scale = 1.0) {
  Stream stream({.seed = seed});
  Matrix<double> cost(M, M);
  for (double& c : cost.flat()) c = scale * stream.uniform();
  return cost;
}

double largest_marginal_error(const Matrix<double>& plan) {
  const std::size_t M = plan.rows();
  double error = 0.0;
  for (std::size_t i = 0; i < M; ++i) {
    double row = 0.0;
    double column = 0.0;
    for (std::size_t j = 0; j < M; ++j) {
      row += plan(i, j);
      column += plan(j, i);
    }
    const double mass = 1.0 / static_cast<double>(M);
    error = std::max({error, std::abs(row - mass), std::abs(column - mass)});
  }
  return error;
}

// The cheapest and the second cheapest of all M! assignments, by trying each.
struct Assignments {
  std::vector<std::size_t> best;
  double cost = INFINITY;
  double runner_up = INFINITY;
};

Assignments try_all(const Matrix<double>& cost) {
  std::vector<std::size_t> order(cost.rows());
  std::iota(order.begin(), order.end(), 0);
  Assignments found;
  do {
    double total = 0.0;
    for (std::size_t i = 0; i < order.size(); ++i) total += cost(i, order[i]);
    if (total < found.cost) {
      found.runner_up = found.cost;
      found.cost = total;
      found.best = order;
    } else {
      found.runner_up = std::min(found.runner_up, total);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return found;
}

RC_GTEST_PROP(Sinkhorn, MarginalsAreUniform, ()) {
  const auto M = *rc::gen::inRange<std::size_t>(1, 12);
  const double lambda = std::exp(*rc::gen::inRange(-300, 300) / 100.0);
  const Matrix<double> plan = sinkhorn_plan(random_costs(M, *rc::gen::arbitrary<std::uint64_t>()), lambda);
  RC_ASSERT(largest_marginal_error(plan) < 1e-6 / static_cast<double>(M));
  RC_ASSERT(*std::min_element(plan.flat().begin(), plan.flat().end()) >= 0.0);
}

RC_GTEST_PROP(Sinkhorn, PlanAgreesWithPlainScalings, ()) {
  const auto M = *rc::gen::inRange<std::size_t>(1, 8);
  const double lambda = std::exp(*rc::gen::inRange(-150, 300) / 100.0);
  const Matrix<double> cost = random_costs(M, *rc::gen::arbitrary<std::uint64_t>());
  test::Rows rows = test::zeros(M, M);
  for (std::size_t i = 0; i < M; ++i) std::ranges::copy(cost.row(i), rows[i].begin());
  const Matrix<double> plan = sinkhorn_plan(cost, lambda);
  const test::Rows wanted = test::plain_plan(rows, lambda);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) RC_ASSERT(std::abs(plan(i, j) - wanted[i][j]) < 1e-9);
  }
}

RC_GTEST_PROP(Sinkhorn, SymmetricCostsGiveASymmetricPlan, ()) {
  const auto M = *rc::gen::inRange<std::size_t>(2, 12);
  Matrix<double> cost = random_costs(M, *rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < i; ++j) cost(i, j) = cost(j, i);
  }
  const Matrix<double> plan = sinkhorn_plan(cost, 0.1);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < i; ++j) RC_ASSERT(std::abs(plan(i, j) - plan(j, i)) < 1e-8);
  }
}

// Around a cycle of m ≤ M pairs that leaves the best assignment the plan's ratios multiply to e^{−gap/λ} or less, so
// with λ = gap/(15M) some pair of every cycle weighs less than e^{−15}.
RC_GTEST_PROP(Sinkhorn, SmallLambdaGivesTheCheapestAssignment, ()) {
  const auto M = *rc::gen::inRange<std::size_t>(2, 7);
  const Matrix<double> cost = random_costs(M, *rc::gen::arbitrary<std::uint64_t>());
  const Assignments all = try_all(cost);
  const double gap = all.runner_up - all.cost;
  RC_PRE(gap > 1e-2);
  const Matrix<double> plan = sinkhorn_plan(cost, gap / (15.0 * static_cast<double>(M)));
  for (std::size_t i = 0; i < M; ++i) {
    RC_ASSERT(std::abs(plan(i, all.best[i]) * static_cast<double>(M) - 1.0) < 1e-4);
  }
}

TEST(Sinkhorn, LargeLambdaGivesTheUniformPlan) {
  const Matrix<double> plan = sinkhorn_plan(random_costs(7, 3), 1e9);
  for (const double p : plan.flat()) EXPECT_NEAR(p, 1.0 / 49.0, 1e-10);
}

TEST(Sinkhorn, RefusesALambdaThatIsNotPositive) {
  for (const double lambda : {0.0, -1.0, std::nan("")}) {
    try {
      sinkhorn_plan(random_costs(3, 1), lambda);
      FAIL() << lambda;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_NE(std::string(error.what()).find("lambda"), std::string::npos) << error.what();
    }
  }
}

TEST(Sinkhorn, RefusesACostThatIsNotFinite) {
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY)}) {
    Matrix<double> cost = random_costs(3, 1);
    cost(1, 2) = bad;
    EXPECT_THROW(sinkhorn_plan(cost, 1.0), Error) << bad;
  }
}

TEST(Sinkhorn, SaysWhenItHasNotConverged) {
  try {
    sinkhorn_plan(random_costs(6, 1), 0.05, {.tolerance = 1e-12, .max_iterations = 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_NE(std::string(error.what()).find("after 1 iterations"), std::string::npos) << error.what();
  }
}

// e^{−c/λ} is 0 in double for every pair here; only the logarithms keep the plan.
TEST(Sinkhorn, HugeCostsDoNotOverflow) {
  const Matrix<double> cost = random_costs(5, 4, 1e8);
  const Matrix<double> plan = sinkhorn_plan(cost, try_all(cost).cost / 50.0);
  EXPECT_LT(largest_marginal_error(plan), 1e-6);
  Matrix<double> far = random_costs(5, 4);
  for (double& c : far.flat()) c += 1e8;  // a constant added to all costs changes no plan, but 8 digits are lost
  const Matrix<double> shifted = sinkhorn_plan(far, 0.5);
  const Matrix<double> near = sinkhorn_plan(random_costs(5, 4), 0.5);
  for (std::size_t l = 0; l < near.size(); ++l) EXPECT_NEAR(shifted.data()[l], near.data()[l], 1e-7);
}

// Three particles far from seventeen, in both clouds: mass between the clusters is a matter of e^{−18}, and sweeps
// alone are still off by 1e-6 after 100,000 rounds.
TEST(Sinkhorn, ConvergesForClustersThatHardlyExchangeMass) {
  const std::size_t M = 20;
  Stream stream({.seed = 5});
  test::Rows a = test::zeros(M, 2);
  test::Rows b = a;
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t l = 0; l < 2; ++l) {
      const double centre = i < 3 ? 3.0 : 0.0;
      a[i][l] = centre + 0.3 * stream.normal();
      b[i][l] = a[i][l] + 0.05 * stream.normal();
    }
  }
  const test::Rows c = test::costs(a, b);
  Matrix<double> cost(M, M);
  for (std::size_t i = 0; i < M; ++i) std::ranges::copy(c[i], cost.row(i).begin());
  const Matrix<double> plan = sinkhorn_plan(cost, 1.0, {.max_iterations = 1000});
  EXPECT_LT(largest_marginal_error(plan), 1e-9);
}

}  // namespace
}  // namespace pits
