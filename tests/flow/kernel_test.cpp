#include "pits/flow/kernel.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "flow/plain_loops.h"
#include "pits/core/random.h"

namespace pits {
namespace {

// Distances of M points on a line at 0, 1, 3, 6, ...: d² = 0 and squares of 1, 2, 3, ...
Matrix<double> line(std::size_t M) {
  Matrix<double> theta(M, 1);
  for (std::size_t i = 0; i < M; ++i) theta(i, 0) = static_cast<double>(i * (i + 1)) / 2.0;
  return theta;
}

template <class T>
Matrix<T> distances(const Matrix<T>& theta) {
  RbfKernel<T> kernel;
  evaluate_kernel<T>(theta, Scale::fixed(1.0), kernel);
  return kernel.squared_distance;
}

double median_of(const Matrix<double>& d2, bool with_diagonal) { return median(d2.view(), with_diagonal); }

TEST(Median, OfAnEvenCountIsTheMeanOfTheMiddleTwo) {
  // M = 2: {0, 0, 1, 1} with the diagonal, {1, 1} without.
  EXPECT_DOUBLE_EQ(median_of(distances(line(2)), true), 0.5);
  EXPECT_DOUBLE_EQ(median_of(distances(line(2)), false), 1.0);
  // M = 4 at 0, 1, 3, 6: each of 1, 4, 9, 9, 25, 36 twice and four zeros.
  EXPECT_DOUBLE_EQ(median_of(distances(line(4)), true), 6.5);
  EXPECT_DOUBLE_EQ(median_of(distances(line(4)), false), 9.0);
}

TEST(Median, OfAnOddCountIsTheMiddleOne) {
  // M = 3 at 0, 1, 3: {0, 0, 0, 1, 1, 4, 4, 9, 9}; off the diagonal {1, 1, 4, 4, 9, 9}.
  EXPECT_DOUBLE_EQ(median_of(distances(line(3)), true), 1.0);
  EXPECT_DOUBLE_EQ(median_of(distances(line(3)), false), 4.0);
}

TEST(Median, OfOneParticleIsZero) {
  EXPECT_EQ(median_of(Matrix<double>(1, 1), true), 0.0);
  EXPECT_EQ(median_of(Matrix<double>(1, 1), false), 0.0);
}

RC_GTEST_PROP(Median, AgreesWithSorting, ()) {
  const auto M = *rc::gen::inRange<std::size_t>(1, 9);
  Stream stream({.seed = *rc::gen::arbitrary<std::uint64_t>()});
  Matrix<double> d2(M, M);
  test::Rows rows = test::zeros(M, M);
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) rows[i][j] = d2(i, j) = stream.index(5);  // with ties
  }
  RC_ASSERT(median_of(d2, true) == test::plain_median(rows));
}

TEST(Bandwidth, IsTheMedianOverLogOfParticlesPlusOne) {
  RbfKernel<double> kernel;
  evaluate_kernel<double>(line(3), Scale{}, kernel);
  EXPECT_DOUBLE_EQ(kernel.h, 1.0 / std::log(4.0));
  EXPECT_DOUBLE_EQ(kernel.slope, 2.0 / kernel.h);
  evaluate_kernel<double>(line(3), {.rule = Scale::Rule::median_off_diagonal}, kernel);
  EXPECT_DOUBLE_EQ(kernel.h, 4.0 / std::log(4.0));
  evaluate_kernel<double>(line(3), Scale::fixed(0.7), kernel);
  EXPECT_DOUBLE_EQ(kernel.h, 0.7);
}

TEST(Bandwidth, LambdaIsTheMedianItself) {
  const Matrix<double> d2 = distances(line(3));
  EXPECT_DOUBLE_EQ(resolve(Scale{}, d2.view()), 1.0);
  EXPECT_DOUBLE_EQ(resolve(Scale{.rule = Scale::Rule::median_off_diagonal}, d2.view()), 4.0);
  EXPECT_DOUBLE_EQ(resolve(Scale::fixed(0.7), d2.view()), 0.7);
}

template <class T>
class Kernel : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Kernel, Reals);

TYPED_TEST(Kernel, IsTheGaussianOfTheDistanceWithItsRowSums) {
  Matrix<TypeParam> theta(2, 2);
  theta(1, 0) = TypeParam(3);
  theta(1, 1) = TypeParam(4);
  RbfKernel<TypeParam> kernel;
  evaluate_kernel<TypeParam>(theta, Scale::fixed(25.0), kernel);
  EXPECT_NEAR(kernel.k(0, 1), std::exp(-1.0), 1e-7);
  EXPECT_NEAR(kernel.k(1, 0), std::exp(-1.0), 1e-7);
  EXPECT_EQ(kernel.k(0, 0), TypeParam(1));
  EXPECT_NEAR(kernel.row_sum[0], 1.0 + std::exp(-1.0), 1e-6);
}

TYPED_TEST(Kernel, OfAZeroMedianJoinsEqualParticlesOnlyAndDoesNotRepel) {
  Matrix<TypeParam> theta(5, 1);  // four at 0, one at 1: 17 of 25 distances are 0
  theta(4, 0) = TypeParam(1);
  RbfKernel<TypeParam> kernel;
  evaluate_kernel<TypeParam>(theta, Scale{}, kernel);
  EXPECT_EQ(kernel.h, 0.0);
  EXPECT_EQ(kernel.slope, TypeParam(0));
  EXPECT_EQ(kernel.k(0, 3), TypeParam(1));
  EXPECT_EQ(kernel.k(0, 4), TypeParam(0));
  EXPECT_EQ(kernel.row_sum[0], TypeParam(4));
}

TYPED_TEST(Kernel, OfDistancesBelowTheSmallestNormalNumberIsFinite) {
  const TypeParam tiny = std::sqrt(std::numeric_limits<TypeParam>::denorm_min()) * TypeParam(4);
  Matrix<TypeParam> theta(4, 1);
  for (std::size_t i = 0; i < 4; ++i) theta(i, 0) = tiny * static_cast<TypeParam>(i);
  theta(3, 0) = TypeParam(1);
  RbfKernel<TypeParam> kernel;
  evaluate_kernel<TypeParam>(theta, Scale{}, kernel);
  EXPECT_TRUE(std::isfinite(kernel.slope));
  for (const TypeParam k : kernel.k.flat()) EXPECT_TRUE(std::isfinite(k));
}

TEST(Scale, ParsesWhatItFormats) {
  for (const std::string text : {"median", "median-off-diagonal", "0.25"}) {
    Scale scale = Scale::fixed(9.0);
    parse_value(text, scale);
    EXPECT_EQ(format_value(scale), text);
  }
}

RC_GTEST_PROP(Scale, KeepsEveryPositiveNumber, ()) {
  const double value = std::exp(*rc::gen::inRange(-300000, 300000) / 1000.0);
  Scale scale;
  parse_value(format_value(Scale::fixed(value)), scale);
  RC_ASSERT(scale.rule == Scale::Rule::fixed);
  RC_ASSERT(scale.value == value);
}

TEST(Scale, RefusesWhatIsNotAPositiveNumberOrAMedian) {
  for (const std::string text : {"", "mean", "0", "-1", "nan", "inf", "1x", "Median"}) {
    Scale scale = Scale::fixed(9.0);
    EXPECT_THROW(parse_value(text, scale), Error) << text;
    EXPECT_EQ(scale.value, 9.0) << text;
  }
  for (const double value : {0.0, -1.0, std::nan(""), static_cast<double>(INFINITY)}) {
    EXPECT_THROW(Scale::fixed(value), Error) << value;
  }
  try {
    Scale scale;
    parse_value("mean", scale);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find("median-off-diagonal"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'mean'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace pits
