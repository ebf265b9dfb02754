#include "pits/target/metrics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "pits/core/error.h"
#include "pits/target/target.h"
#include "target/statistics.h"

namespace pits {
namespace {

Matrix<double> normal_cloud(std::size_t n, std::size_t d, std::uint64_t seed, double sd = 1.0) {
  Matrix<double> a(n, d);
  Stream stream({.seed = seed});
  for (double& x : a.flat()) x = sd * stream.normal();
  return a;
}

Matrix<double> shifted(Matrix<double> a, std::span<const double> by) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.cols(); ++j) a(i, j) += by[j];
  }
  return a;
}

double w2_brute_force(const Matrix<double>& a, const Matrix<double>& b) {
  std::vector<std::size_t> sigma(a.rows());
  std::iota(sigma.begin(), sigma.end(), std::size_t{0});
  double best = std::numeric_limits<double>::infinity();
  do {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.rows(); ++i) {
      for (std::size_t j = 0; j < a.cols(); ++j) sum += std::pow(a(i, j) - b(sigma[i], j), 2);
    }
    best = std::min(best, sum);
  } while (std::ranges::next_permutation(sigma).found);
  return std::sqrt(best / static_cast<double>(a.rows()));
}

RC_GTEST_PROP(W2, IsTheBestOfAllPermutations, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 8);
  const auto d = *rc::gen::inRange<std::size_t>(1, 4);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto sd = *rc::gen::element(0.0, 0.01, 1.0, 50.0);
  const double offset[3] = {3.0, -2.0, 0.5};
  const Matrix<double> a = normal_cloud(n, d, seed);
  const Matrix<double> b = shifted(normal_cloud(n, d, seed + 1, sd), offset);
  RC_ASSERT(std::abs(w2(a, b) - w2_brute_force(a, b)) < 1e-12 * (1.0 + sd));
  RC_ASSERT(std::abs(w2(a, b) - w2(b, a)) < 1e-12 * (1.0 + sd));
}

TEST(W2, SortsOnALine) {
  const Matrix<double> a = normal_cloud(300, 1, 1);
  const Matrix<double> b = normal_cloud(300, 1, 2, 3.0);
  std::vector<double> x(a.flat().begin(), a.flat().end()), y(b.flat().begin(), b.flat().end());
  std::ranges::sort(x);
  std::ranges::sort(y);
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  EXPECT_NEAR(w2(a, b), std::sqrt(sum / 300.0), 1e-12);
}

TEST(W2, OfATranslationIsItsLength) {
  const double by[3] = {3.0, -4.0, 12.0};
  const Matrix<double> a = normal_cloud(80, 3, 3);
  EXPECT_NEAR(w2(a, shifted(a, by)), 13.0, 1e-12);
}

// A scaling about any point is the gradient of a convex function, so it is the optimal map (Brenier 1991).
TEST(W2, OfAScalingHasAClosedForm) {
  const Matrix<double> a = normal_cloud(80, 2, 4);
  Matrix<double> b = a;
  double square = 0.0;
  for (double& x : b.flat()) {
    square += x * x;
    x *= 1.75;
  }
  EXPECT_NEAR(w2(a, b), 0.75 * std::sqrt(square / 80.0), 1e-12);
}

TEST(W2, IsZeroForAShuffledCloudAndRejectsOthers) {
  const Matrix<double> a = normal_cloud(40, 2, 5);
  Matrix<double> b(40, 2);
  for (std::size_t i = 0; i < 40; ++i) std::ranges::copy(a.row((i * 7 + 1) % 40), b.row(i).begin());
  EXPECT_EQ(w2(a, b), 0.0);
  EXPECT_THROW(w2(a, normal_cloud(39, 2, 5)), Error);
  EXPECT_THROW(w2(a, normal_cloud(40, 3, 5)), Error);
  EXPECT_THROW(w2(Matrix<double>(0, 2), Matrix<double>(0, 2)), Error);
}

TEST(Mmd, IsZeroForTheSameCloudAndPositiveOtherwise) {
  const Matrix<double> a = normal_cloud(60, 2, 6);
  EXPECT_LT(mmd(a, a), 1e-7);  // the root of the rounding of sums near 1
  EXPECT_GT(mmd(normal_cloud(60, 2, 7), a), 0.01);
}

// x − y is N(0, 2I) in two dimensions: its squared norm is 4 times an exponential, with median 4 log 2. The bias of a
// sample's median, of order 1/n, is below the standard error of the mean over these clouds.
TEST(Mmd, BandwidthIsTheMedianSquaredDistanceOfTheSample) {
  std::vector<double> bandwidths;
  for (std::uint64_t c = 0; c < 100; ++c) bandwidths.push_back(Mmd(normal_cloud(400, 2, 1000 + c)).bandwidth());
  EXPECT_NEAR(moments(bandwidths).mean, 4.0 * std::log(2.0), 4.0 * standard_error(bandwidths));
  Matrix<double> two(2, 1);
  two(1, 0) = 3.0;
  EXPECT_EQ(Mmd(two).bandwidth(), 9.0);
}

// Given the sample y_1..y_N its bandwidth h is a number, and over clouds a_1..a_n of N(m, I) in the plane
//   E MMD² = E k(a,a) + (1/N²) Σ_jl k(y_j, y_l) − (2/N) Σ_j E k(a, y_j)
// without bias: E k(a,a) = 1/n + (1 − 1/n)/(1 + 4/h), its diagonal being 1, and
// E k(a, y) = exp(−‖m − y‖²/(h + 2))/(1 + 2/h).
double expected_square(const Matrix<double>& y, double h, double n, std::span<const double> m) {
  const auto N = static_cast<double>(y.rows());
  const auto square = [](std::span<const double> p, std::span<const double> q) {
    return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]);
  };
  double sum = 1.0 / n + (1.0 - 1.0 / n) / (1.0 + 4.0 / h);
  for (std::size_t j = 0; j < y.rows(); ++j) {
    for (std::size_t l = 0; l < y.rows(); ++l) sum += std::exp(-square(y.row(j), y.row(l)) / h) / (N * N);
    sum -= 2.0 / N * std::exp(-square(m, y.row(j)) / (h + 2.0)) / (1.0 + 2.0 / h);
  }
  return sum;
}

TEST(Mmd, OfGaussianCloudsHasItsMeanInClosedForm) {
  const Matrix<double> sample = normal_cloud(300, 2, 9);
  const Mmd to_sample(sample);
  const double shifts[2][2] = {{1.5, -1.0}, {0.0, 0.0}};  // another distribution, and the sample's own
  for (const auto& by : shifts) {
    std::vector<double> squares;
    for (std::uint64_t c = 0; c < 400; ++c) {
      squares.push_back(std::pow(to_sample(shifted(normal_cloud(100, 2, 2000 + c), by)), 2));
    }
    EXPECT_NEAR(moments(squares).mean, expected_square(sample, to_sample.bandwidth(), 100.0, by),
                4.0 * standard_error(squares));
  }
}

TEST(Mmd, RejectsASampleWithoutSpread) {
  EXPECT_THROW(Mmd(Matrix<double>(5, 2)), Error);
  EXPECT_THROW(Mmd(Matrix<double>(1, 2)), Error);
  EXPECT_THROW(Mmd(normal_cloud(5, 2, 1))(normal_cloud(5, 3, 1)), Error);
}

// The Stein kernel from central differences of k alone.
double stein_kernel(std::vector<double> x, std::vector<double> y, std::span<const double> sx,
                    std::span<const double> sy) {
  const double h = 1e-4;
  const auto k = [&] {
    double square = 0.0;
    for (std::size_t l = 0; l < x.size(); ++l) square += (x[l] - y[l]) * (x[l] - y[l]);
    return 1.0 / std::sqrt(1.0 + square);
  };
  const auto along = [&](double& coordinate, const std::function<double()>& f) {
    const double at = coordinate;
    coordinate = at + h;
    const double above = f();
    coordinate = at - h;
    const double below = f();
    coordinate = at;
    return (above - below) / (2.0 * h);
  };
  double sum = 0.0;
  for (std::size_t l = 0; l < x.size(); ++l) {
    sum += sx[l] * sy[l] * k() + sx[l] * along(y[l], k) + sy[l] * along(x[l], k);
    sum += along(x[l], [&] { return along(y[l], k); });
  }
  return sum;
}

RC_GTEST_PROP(Ksd, IsTheDoubleSumOfTheSteinKernel, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 8);
  const auto d = *rc::gen::inRange<std::size_t>(1, 4);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const Matrix<double> theta = normal_cloud(n, d, seed);
  const Matrix<double> score = normal_cloud(n, d, seed + 1, 2.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      sum += stein_kernel({theta.row(i).begin(), theta.row(i).end()}, {theta.row(j).begin(), theta.row(j).end()},
                          score.row(i), score.row(j));
    }
  }
  const double squared = sum / static_cast<double>(n * n);
  const double measured = ksd(theta, score);
  RC_ASSERT(std::abs(measured * measured - squared) < 1e-6 * (1.0 + squared));
}

// For exact draws only the diagonal has a mean: E KSD² = E[k₀(θ,θ)]/n = (E‖s‖² + d)/n, with E‖s‖² = tr Σ⁻¹ here.
TEST(Ksd, OfExactDrawsIsItsDiagonalOnAverage) {
  const auto target = make_target("gaussian");
  const double expected = 1.5 / (0.5 - 0.16) + 2.0;
  std::vector<double> scaled;
  for (std::uint32_t c = 0; c < 400; ++c) {
    const Matrix<double> theta = exact_cloud(*target, 50, 17, c);
    Matrix<double> score(50, 2);
    target_scores(*target, theta, score.view());
    scaled.push_back(50.0 * std::pow(ksd(theta, score), 2));
  }
  EXPECT_NEAR(moments(scaled).mean, expected, 4.0 * standard_error(scaled));
}

TEST(Ksd, SeesAShiftThatExactDrawsDoNotHave) {
  const auto target = make_target("banana");
  const double by[2] = {0.0, 0.7};
  const Matrix<double> exact = exact_cloud(*target, 500, 18, 0);
  const Matrix<double> wrong = shifted(exact, by);
  Matrix<double> score(500, 2), wrong_score(500, 2);
  target_scores(*target, exact, score.view());
  target_scores(*target, wrong, wrong_score.view());
  EXPECT_GT(ksd(wrong, wrong_score), 5.0 * ksd(exact, score));
  EXPECT_THROW(ksd(exact, Matrix<double>(499, 2)), Error);
}

}  // namespace
}  // namespace pits
