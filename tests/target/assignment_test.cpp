#include "pits/target/assignment.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "pits/core/error.h"
#include "pits/core/random.h"

namespace pits {
namespace {

double total(const Matrix<double>& cost, const std::vector<std::size_t>& column) {
  double sum = 0.0;
  for (std::size_t i = 0; i < column.size(); ++i) sum += cost(i, column[i]);
  return sum;
}

double brute_force(const Matrix<double>& cost) {
  std::vector<std::size_t> column(cost.rows());
  std::iota(column.begin(), column.end(), std::size_t{0});
  double best = total(cost, column);
  while (std::ranges::next_permutation(column).found) best = std::min(best, total(cost, column));
  return best;
}

void expect_permutation(std::vector<std::size_t> column) {
  std::ranges::sort(column);
  for (std::size_t i = 0; i < column.size(); ++i) ASSERT_EQ(column[i], i);
}

// Small whole numbers make ties, negative ones and large ranges make the prices work.
RC_GTEST_PROP(Assignment, CostsNoMoreThanAnyPermutation, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 8);
  const auto range = *rc::gen::element(2, 10, 1000);
  Matrix<double> cost(n, n);
  for (double& c : cost.flat()) c = *rc::gen::inRange(-range, range + 1);
  const auto column = optimal_assignment(cost.view());
  std::vector<std::size_t> sorted = column;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < n; ++i) RC_ASSERT(sorted[i] == i);
  RC_ASSERT(total(cost, column) == brute_force(cost));
}

// Rank-one costs −x_i y_j: the best permutation sorts both (rearrangement inequality).
TEST(Assignment, SortsRankOneCosts) {
  constexpr std::size_t n = 200;
  Stream stream({.seed = 5});
  std::vector<double> x(n), y(n);
  for (double& v : x) v = stream.normal();
  for (double& v : y) v = stream.normal();
  Matrix<double> cost(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) cost(i, j) = -x[i] * y[j];
  }
  const auto column = optimal_assignment(cost.view());
  expect_permutation(column);
  std::ranges::sort(x);
  std::ranges::sort(y);
  EXPECT_NEAR(total(cost, column), -std::inner_product(x.begin(), x.end(), y.begin(), 0.0), 1e-10);
}

TEST(Assignment, FindsAHiddenPermutation) {
  constexpr std::size_t n = 150;
  Stream stream({.seed = 6});
  Matrix<double> cost(n, n);
  for (double& c : cost.flat()) c = 1.0 + stream.uniform();
  std::vector<std::size_t> hidden(n);
  for (std::size_t i = 0; i < n; ++i) hidden[i] = (i * 7 + 3) % n;
  for (std::size_t i = 0; i < n; ++i) cost(i, hidden[i]) = stream.uniform();
  EXPECT_EQ(optimal_assignment(cost.view()), hidden);
}

TEST(Assignment, EmptyAndEqualCosts) {
  EXPECT_TRUE(optimal_assignment(Matrix<double>(0, 0).view()).empty());
  expect_permutation(optimal_assignment(Matrix<double>(9, 9).view()));
}

TEST(Assignment, RejectsWhatHasNoAnswer) {
  EXPECT_THROW(optimal_assignment(Matrix<double>(2, 3).view()), Error);
  Matrix<double> cost(2, 2);
  cost(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(optimal_assignment(cost.view()), Error);
  cost(1, 0) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(optimal_assignment(cost.view()), Error);
}

}  // namespace
}  // namespace pits
