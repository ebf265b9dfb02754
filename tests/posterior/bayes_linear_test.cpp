#include "pits/posterior/bayes_linear.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "pits/core/random.h"
#include "posterior/conjugate.h"

namespace pits::test {
namespace {

struct Data {
  Eigen::MatrixXd x;  // (n,d)
  Eigen::VectorXd y;
};

Data random_data(Eigen::Index n, Eigen::Index d, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  Data data{.x = Eigen::MatrixXd(n, d), .y = Eigen::VectorXd(n)};
  for (double& value : data.x.reshaped()) value = stream.normal();
  for (Eigen::Index i = 0; i < n; ++i) data.y[i] = data.x.row(i).sum() - 2.0 + stream.normal();
  return data;
}

BayesLinear updated(const BayesLinearConfig& config, const Data& data) {
  BayesLinear posterior(config, data.x.cols());
  for (Eigen::Index i = 0; i < data.x.rows(); ++i) posterior.observe(data.x.row(i).transpose(), data.y[i]);
  return posterior;
}

// Double rounds by 1e-16; the error of the mean grows with the condition number of the precision.
void expect_conjugate(const BayesLinear& posterior, const Conjugate& exact, double tolerance) {
  EXPECT_LT((posterior.precision() - exact.precision).norm(), 1e-12 * exact.precision.norm());
  EXPECT_LT((posterior.mean() - exact.mean).norm(), tolerance * (1.0 + exact.mean.norm()));
  EXPECT_DOUBLE_EQ(posterior.a(), exact.a);
  EXPECT_NEAR(posterior.b(), exact.b, tolerance * (1.0 + exact.total));
}

RC_GTEST_PROP(BayesLinear, IsTheConjugatePosteriorOfTheData, (std::uint32_t seed)) {
  const auto d = *rc::gen::inRange<Eigen::Index>(1, 12);
  const auto n = *rc::gen::inRange<Eigen::Index>(0, 60);
  const BayesLinearConfig config{.lambda = *rc::gen::element(0.01, 0.25, 4.0), .a0 = 2.0, .b0 = 0.5};
  const Data data = random_data(n, d, seed);
  const BayesLinear posterior = updated(config, data);
  const Conjugate exact(config, data.x, data.y);
  RC_ASSERT((posterior.mean() - exact.mean).norm() < 1e-9 * (1.0 + exact.mean.norm()));
  RC_ASSERT((posterior.precision() - exact.precision).norm() < 1e-12 * exact.precision.norm());
  RC_ASSERT(std::abs(posterior.b() - exact.b) < 1e-9 * (1.0 + exact.total));
  RC_ASSERT(posterior.a() == exact.a);
}

RC_GTEST_PROP(BayesLinear, FromSumsIsTheConjugatePosteriorToo, (std::uint32_t seed)) {
  const auto d = *rc::gen::inRange<Eigen::Index>(1, 12);
  const auto n = *rc::gen::inRange<Eigen::Index>(0, 60);
  const auto first = *rc::gen::inRange<Eigen::Index>(0, n + 1);
  const BayesLinearConfig config{.lambda = *rc::gen::element(0.01, 0.25, 4.0), .a0 = 2.0, .b0 = 0.5};
  const Data data = random_data(n, d, seed);
  RegressionSums sums(d);
  add_to(sums, data.x.topRows(first).transpose(), data.y.head(first));
  add_to(sums, data.x.bottomRows(n - first).transpose(), data.y.tail(n - first));
  const BayesLinear posterior(config, sums);
  const Conjugate exact(config, data.x, data.y);
  RC_ASSERT((posterior.mean() - exact.mean).norm() < 1e-9 * (1.0 + exact.mean.norm()));
  RC_ASSERT((posterior.precision() - exact.precision).norm() < 1e-12 * exact.precision.norm());
  RC_ASSERT(std::abs(posterior.b() - exact.b) < 1e-9 * (1.0 + exact.total));
  RC_ASSERT(posterior.a() == exact.a);
}

// 3,000 rank-one updates pass the refactorisations at 1,024 and 2,048.
TEST(BayesLinear, StaysExactOverThousandsOfUpdates) {
  for (const Eigen::Index n : {1023, 1024, 1025, 3000}) {
    const Data data = random_data(n, 8, static_cast<std::uint64_t>(n));
    expect_conjugate(updated({}, data), Conjugate({}, data.x, data.y), 1e-11);
  }
}

// Two columns that differ by 1e-6: a condition number of 2n/λ = 4e6, times 1e-16, times the root of at most 1,024
// rank-one updates between refactorisations is 1e-8; ten times that.
TEST(BayesLinear, StaysExactOnNearlyCollinearRows) {
  Data data = random_data(2000, 4, 5);
  data.x.col(3) = data.x.col(0) + 1e-6 * data.x.col(3);
  const BayesLinearConfig config{.lambda = 1e-3, .a0 = 6.0, .b0 = 6.0};
  expect_conjugate(updated(config, data), Conjugate(config, data.x, data.y), 1e-7);
}

// The same row a thousand times, without noise: b must neither cancel nor turn negative.
TEST(BayesLinear, KeepsBPositiveOnPerfectlyExplainedData) {
  Data data{.x = Eigen::MatrixXd::Constant(1500, 2, 30.0), .y = Eigen::VectorXd::Constant(1500, 6000.0)};
  const BayesLinearConfig config{.lambda = 1e-6, .a0 = 1.0, .b0 = 1e-3};
  const BayesLinear posterior = updated(config, data);
  // b0 + ½·λ‖μ‖² with μ = (100, 100), and residuals of order λ/n: 0.001 + ½·1e-6·2e4.
  EXPECT_NEAR(posterior.b(), 1e-3 + 0.01, 1e-6);
}

// One coefficient by hand: λ = 1, rows (1, 2), (2, 3): P = 1 + 1 + 4 = 6, Xᵀy = 8, mean 4/3,
// b = 1 + ½(13 − 8·4/3) = 13/6.
TEST(BayesLinear, OneCoefficientByHand) {
  BayesLinear posterior({.lambda = 1.0, .a0 = 1.0, .b0 = 1.0}, 1);
  posterior.observe(Eigen::VectorXd::Constant(1, 1.0), 2.0);
  posterior.observe(Eigen::VectorXd::Constant(1, 2.0), 3.0);
  EXPECT_DOUBLE_EQ(posterior.precision()(0, 0), 6.0);
  EXPECT_NEAR(posterior.mean()[0], 4.0 / 3.0, 1e-14);
  EXPECT_DOUBLE_EQ(posterior.a(), 2.0);
  EXPECT_NEAR(posterior.b(), 13.0 / 6.0, 1e-14);
}

// β is multivariate t with 2a degrees of freedom: with covariance C, E[z_i² z_j²] = κ(C_ii C_jj + 2 C_ij²),
// κ = (2a−2)/(2a−4); that gives the standard errors of the sample moments.
void expect_sample_moments(const BayesLinear& posterior, const Conjugate& exact, std::uint64_t seed) {
  constexpr int n = 200000;
  const Eigen::Index d = exact.mean.size();
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(d);
  Eigen::MatrixXd second = Eigen::MatrixXd::Zero(d, d);
  Stream stream({.seed = seed, .purpose = Purpose::decision});
  for (int i = 0; i < n; ++i) {
    const Eigen::VectorXd z = posterior.sample(stream) - exact.mean;
    mean += z / n;
    second += z * z.transpose() / n;
  }
  const Eigen::MatrixXd C = exact.covariance();
  const double kappa = (2.0 * exact.a - 2.0) / (2.0 * exact.a - 4.0);
  for (Eigen::Index i = 0; i < d; ++i) {
    EXPECT_NEAR(mean[i], 0.0, 4.5 * std::sqrt(C(i, i) / n));
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double fourth = kappa * (C(i, i) * C(j, j) + 2.0 * C(i, j) * C(i, j));
      EXPECT_NEAR(second(i, j), C(i, j), 4.5 * std::sqrt((fourth - C(i, j) * C(i, j)) / n));
    }
  }
}

TEST(BayesLinear, SamplesThePriorBeforeAnyData) {
  const Data none{.x = Eigen::MatrixXd(0, 2), .y = Eigen::VectorXd(0)};
  expect_sample_moments(BayesLinear({}, 2), Conjugate({}, none.x, none.y), 1);
}

TEST(BayesLinear, SamplesHaveThePosteriorsMeanAndCovariance) {
  Data data = random_data(12, 3, 6);
  data.x.col(2) += 2.0 * data.x.col(0);  // correlated coefficients
  expect_sample_moments(updated({}, data), Conjugate({}, data.x, data.y), 2);
  const Data one = random_data(5, 1, 7);
  expect_sample_moments(updated({}, one), Conjugate({}, one.x, one.y), 3);
}

// Past a refactorisation the samples must use the new factor.
TEST(BayesLinear, SamplesHaveTheRightMomentsAfterManyUpdates) {
  Data data = random_data(1100, 2, 8);
  data.x.col(1) += data.x.col(0);
  expect_sample_moments(updated({}, data), Conjugate({}, data.x, data.y), 4);
}

TEST(BayesLinear, RefusesWhatIsNotFiniteAndStaysAsItWas) {
  BayesLinear posterior({}, 2);
  posterior.observe(Eigen::Vector2d(1.0, 2.0), 3.0);
  const Eigen::VectorXd mean = posterior.mean();
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(posterior.observe(Eigen::Vector2d(1.0, bad), 0.0), Error);
    EXPECT_THROW(posterior.observe(Eigen::Vector2d(1.0, 2.0), bad), Error);
  }
  EXPECT_EQ(posterior.mean(), mean);
  EXPECT_EQ(posterior.a(), 6.5);
}

TEST(BayesLinear, RefusesBadPriors) {
  EXPECT_THROW(BayesLinear({.lambda = 0.0}, 2), Error);
  EXPECT_THROW(BayesLinear({.a0 = -1.0}, 2), Error);
  EXPECT_THROW(BayesLinear({.b0 = std::nan("")}, 2), Error);
}

std::string refusal(const BayesLinearConfig& config, const Eigen::VectorXd& x, int observations) {
  BayesLinear posterior(config, x.size());
  try {
    for (int i = 0; i < observations; ++i) posterior.observe(x, 1.0);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

// One direction known to 1e16 times the precision of the other: no digit of a solve is left. An error at once, never a
// mean made of rounding.
TEST(BayesLinear, ASingularPrecisionIsAnErrorAtTheFirstObservationThatMakesIt) {
  const Eigen::Vector2d x(1.0, 2.0);
  EXPECT_NE(refusal({.lambda = 1e-40}, x, 1).find("of 1 observations is singular"), std::string::npos);
  EXPECT_NE(refusal({.lambda = 0.25}, 1e9 * x, 1).find("raise lambda"), std::string::npos);
  EXPECT_NE(refusal({.lambda = 0.25}, 1e200 * x, 1).find("singular"), std::string::npos);  // overflows
  EXPECT_EQ(refusal({.lambda = 0.25}, 1e6 * x, 1000), "");
}

TEST(BayesLinear, RefusesARowOfAnotherLength) {
  BayesLinear posterior({}, 2);
  EXPECT_THROW(posterior.observe(Eigen::VectorXd::Ones(3), 1.0), Error);
}

}  // namespace
}  // namespace pits::test
