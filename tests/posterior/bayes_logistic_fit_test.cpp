// Laplace's approximation of all observations at once, against the log posterior by a plain loop.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "pits/core/random.h"
#include "pits/posterior/bayes_logistic.h"

namespace pits {
namespace {

struct Data {
  Eigen::MatrixXd x;
  Eigen::VectorXd r;
};

Data some_data(Eigen::Index d, Eigen::Index n, bool fractions = true) {
  Stream stream({.seed = 12, .purpose = Purpose::target_sample});
  Data data{Eigen::MatrixXd(d, n), Eigen::VectorXd(n)};
  for (double& v : data.x.reshaped()) v = stream.normal();
  for (double& v : data.r) v = fractions ? stream.uniform() : stream.index(2);
  return data;
}

double log_posterior(const Data& data, double lambda, const Eigen::VectorXd& w) {
  double sum = -0.5 * lambda * w.dot(w);
  for (Eigen::Index i = 0; i < data.r.size(); ++i) {
    const double p = 1.0 / (1.0 + std::exp(-data.x.col(i).dot(w)));
    sum += data.r[i] * std::log(p) + (1.0 - data.r[i]) * std::log(1.0 - p);
  }
  return sum;
}

TEST(BayesLogisticFit, ModeHasNoSlopeAndThePrecisionIsTheCurvature) {
  const Data data = some_data(4, 30);
  const BayesLogistic posterior({.lambda = 0.7}, data.x, data.r);
  const Eigen::VectorXd w = posterior.mean();
  const Eigen::MatrixXd P = posterior.precision();
  constexpr double h = 1e-4;
  const auto at = [&](Eigen::Index i, double di, Eigen::Index j, double dj) {
    Eigen::VectorXd moved = w;
    moved[i] += di;
    moved[j] += dj;
    return log_posterior(data, 0.7, moved);
  };
  for (Eigen::Index i = 0; i < 4; ++i) {
    EXPECT_NEAR((at(i, h, i, 0) - at(i, -h, i, 0)) / (2 * h), 0.0, 1e-6);
    for (Eigen::Index j = 0; j < 4; ++j) {
      const double second = (at(i, h, j, h) - at(i, h, j, -h) - at(i, -h, j, h) + at(i, -h, j, -h)) / (4 * h * h);
      EXPECT_NEAR(P(i, j), -second, 1e-5) << i << j;
    }
  }
}

// Separable data with a weak prior: the mode is far out, where plain Newton overshoots.
TEST(BayesLogisticFit, FindsTheModeOfSeparableData) {
  Data data{Eigen::MatrixXd(2, 40), Eigen::VectorXd(40)};
  Stream stream({.seed = 3, .purpose = Purpose::target_sample});
  for (Eigen::Index i = 0; i < 40; ++i) {
    data.x.col(i) = Eigen::Vector2d(30.0 * stream.normal(), 1.0);
    data.r[i] = data.x(0, i) > 0.0 ? 1.0 : 0.0;
  }
  const BayesLogistic posterior({.lambda = 1e-4}, data.x, data.r);
  Eigen::VectorXd slope = -1e-4 * posterior.mean();
  for (Eigen::Index i = 0; i < 40; ++i) {
    const double p = 1.0 / (1.0 + std::exp(-data.x.col(i).dot(posterior.mean())));
    slope += (data.r[i] - p) * data.x.col(i);
  }
  EXPECT_LT(slope.norm(), 1e-8);
}

TEST(BayesLogisticFit, OfNothingIsThePriorAndOfOneObservationTheUpdate) {
  const Data none = some_data(3, 0), one = some_data(3, 1);
  const BayesLogistic prior({.lambda = 2.0}, none.x, none.r);
  EXPECT_EQ(prior.mean().norm(), 0.0);
  EXPECT_NEAR((prior.precision() - 2.0 * Eigen::Matrix3d::Identity()).norm(), 0.0, 1e-12);
  BayesLogistic updated({.lambda = 2.0}, 3);
  updated.observe(one.x.col(0), one.r[0]);
  const BayesLogistic fitted({.lambda = 2.0}, one.x, one.r);
  EXPECT_NEAR((fitted.mean() - updated.mean()).norm(), 0.0, 1e-10);
  EXPECT_NEAR((fitted.precision() - updated.precision()).norm(), 0.0, 1e-10);
}

TEST(BayesLogisticFit, DiagonalKeepsTheDiagonal) {
  const Data data = some_data(3, 20, false);
  const BayesLogistic whole({.lambda = 1.0}, data.x, data.r);
  const BayesLogistic diagonal({.lambda = 1.0, .diagonal = true}, data.x, data.r);
  EXPECT_EQ(diagonal.mean(), whole.mean());
  const Eigen::MatrixXd expected = whole.precision().diagonal().asDiagonal();
  EXPECT_NEAR((diagonal.precision() - expected).norm(), 0.0, 1e-12);
}

TEST(BayesLogisticFit, RefusesWhatDoesNotFit) {
  const Data data = some_data(3, 5);
  EXPECT_THROW(BayesLogistic({}, data.x, Eigen::VectorXd::Zero(4)), Error);
  EXPECT_THROW(BayesLogistic({}, data.x, Eigen::VectorXd::Constant(5, 1.5)), Error);
}

}  // namespace
}  // namespace pits
