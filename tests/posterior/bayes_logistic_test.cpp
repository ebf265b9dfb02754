#include "pits/posterior/bayes_logistic.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "model/plain_model.h"
#include "pits/core/random.h"

namespace pits::test {
namespace {

constexpr Eigen::Index d = 4;

struct Row {
  Eigen::VectorXd x;
  double r;
};

std::vector<Row> random_rows(int n, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  std::vector<Row> rows;
  for (int i = 0; i < n; ++i) {
    Row row{.x = Eigen::VectorXd(d), .r = 0.0};
    for (double& value : row.x) value = 2.0 * stream.normal();
    const std::vector<double> kinds = {0.0, 1.0, stream.uniform()};
    row.r = kinds[stream.index(3)];
    rows.push_back(row);
  }
  return rows;
}

// −½ (w − m)ᵀP(w − m) + r z − log(1 + e^z)
double objective(const Eigen::VectorXd& w, const Eigen::VectorXd& m, const Eigen::MatrixXd& P, const Row& row) {
  const double z = row.x.dot(w);
  return -0.5 * (w - m).dot(P * (w - m)) + row.r * z - std::log1p(std::exp(z));
}

class Laplace : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Precision, Laplace, testing::Bool(),
                         [](const auto& diagonal) { return diagonal.param ? "Diagonal" : "Full"; });

std::vector<double> plain(const Eigen::VectorXd& w) { return {w.begin(), w.end()}; }

// Central differences with h = 1e-5: the third derivative of the objective is at most ‖x‖³/10, so h²/6 of it is below
// 1e-8, and rounding adds |f|·1e-16/h.
TEST_P(Laplace, EachModeHasNoGradient) {
  BayesLogistic posterior({.lambda = 0.3, .diagonal = GetParam()}, d);
  for (const Row& row : random_rows(60, 3)) {
    const Eigen::VectorXd m = posterior.mean();
    const Eigen::MatrixXd P = posterior.precision();
    posterior.observe(row.x, row.r);
    const auto f = [&](const std::vector<double>& w) {
      return objective(Eigen::Map<const Eigen::VectorXd>(w.data(), d), m, P, row);
    };
    for (const double slope : central_differences(f, plain(posterior.mean()))) EXPECT_NEAR(slope, 0.0, 1e-7);
  }
}

// Differences of the gradient (analytic in the test: −P(w − m) + (r − σ(z))x), whose own error is below 1e-8.
TEST_P(Laplace, PrecisionIsMinusTheHessianAtTheMode) {
  BayesLogistic posterior({.lambda = 0.3, .diagonal = GetParam()}, d);
  for (const Row& row : random_rows(40, 4)) {
    const Eigen::VectorXd m = posterior.mean();
    const Eigen::MatrixXd P = posterior.precision();
    posterior.observe(row.x, row.r);
    for (Eigen::Index j = 0; j < d; ++j) {
      const auto slope = [&](const std::vector<double>& at) {
        const Eigen::Map<const Eigen::VectorXd> w(at.data(), d);
        const double p = 1.0 / (1.0 + std::exp(-row.x.dot(w)));
        return (-P * (w - m) + (row.r - p) * row.x)[j];
      };
      const auto column = central_differences(slope, plain(posterior.mean()));
      for (Eigen::Index k = 0; k < d; ++k) {
        if (GetParam() && j != k) continue;
        EXPECT_NEAR(posterior.precision()(j, k), -column[static_cast<std::size_t>(k)], 1e-6);
      }
    }
  }
}

TEST_P(Laplace, VarianceIsTheQuadraticFormOfTheInverse) {
  BayesLogistic posterior({.lambda = 0.3, .diagonal = GetParam()}, d);
  for (const Row& row : random_rows(60, 5)) {
    posterior.observe(row.x, row.r);
    const Eigen::MatrixXd covariance = posterior.precision().inverse();
    EXPECT_NEAR(posterior.variance(row.x), row.x.dot(covariance * row.x), 1e-10);
  }
}

// Far along a direction: no overflow, and the mode stays where the gradient vanishes, s = r − σ(v s).
TEST_P(Laplace, HoldsForHugeContexts) {
  BayesLogistic posterior({.lambda = 1.0, .diagonal = GetParam()}, 1);
  posterior.observe(Eigen::VectorXd::Constant(1, 1e4), 1.0);
  const double w = posterior.mean()[0];
  EXPECT_NEAR(w, 1e4 / (1.0 + std::exp(1e4 * w)), 1e-9);
  EXPECT_GT(w, 0.0);
}

// A thousand draws of one coefficient: the mode is within 4.5 posterior sd of the truth.
TEST_P(Laplace, FindsTheCoefficient) {
  Stream stream({.seed = 6, .purpose = Purpose::target_sample});
  BayesLogistic posterior({.diagonal = GetParam()}, 1);
  for (int i = 0; i < 1000; ++i) {
    const double x = stream.normal();
    posterior.observe(Eigen::VectorXd::Constant(1, x), stream.uniform() < 1.0 / (1.0 + std::exp(-1.5 * x)) ? 1.0 : 0.0);
  }
  const double sd = std::sqrt(posterior.variance(Eigen::VectorXd::Ones(1)));
  EXPECT_LT(sd, 0.2);
  EXPECT_NEAR(posterior.mean()[0], 1.5, 4.5 * sd);
}

TEST_P(Laplace, RefusesWhatDoesNotFit) {
  BayesLogistic posterior({.diagonal = GetParam()}, 2);
  EXPECT_THROW(posterior.observe(Eigen::VectorXd::Ones(3), 1.0), Error);
  EXPECT_THROW(posterior.observe(Eigen::VectorXd::Ones(2), 1.5), Error);
  EXPECT_THROW(posterior.observe(Eigen::VectorXd::Ones(2), std::nan("")), Error);
  EXPECT_THROW(posterior.observe(Eigen::VectorXd::Constant(2, std::nan("")), 1.0), Error);
  EXPECT_EQ(posterior.mean(), Eigen::VectorXd::Zero(2));
  EXPECT_THROW(BayesLogistic({.lambda = 0.0}, 2), Error);
}

}  // namespace
}  // namespace pits::test
