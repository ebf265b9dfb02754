// Observations whose weight falls with their age.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "chi_square.h"
#include "pits/core/error.h"
#include "pits/posterior/bayes_linear.h"
#include "pits/posterior/bayes_logistic.h"
#include "pits/posterior/gradient_design.h"
#include "pits/posterior/history.h"
#include "posterior/conjugate.h"

namespace pits::test {
namespace {

constexpr double gamma = 0.9;

struct Data {
  Eigen::MatrixXd x{3, 12};
  Eigen::VectorXd y{12};
  Eigen::VectorXd weights{12};
  Data() {
    Stream stream({.seed = 3, .purpose = Purpose::target_sample});
    for (Eigen::Index i = 0; i < 12; ++i) {
      for (Eigen::Index j = 0; j < 3; ++j) x(j, i) = stream.normal();
      y[i] = stream.uniform();
      weights[i] = std::pow(gamma, static_cast<double>(11 - i));
    }
  }
};

// Against plain sums: precision λI + Σ w x xᵀ, mean of the weighted ridge, a0 + ½Σw, b0 + ½(Σ w y² − meanᵀ P mean).
TEST(DiscountedRegression, IsTheRegressionWithFallingWeights) {
  const Data data;
  const BayesLinearConfig config{.lambda = 0.5, .a0 = 2.0, .b0 = 1.5};
  BayesLinear posterior(config, 3);
  for (Eigen::Index i = 0; i < 12; ++i) {
    posterior.discount(gamma);
    posterior.observe(data.x.col(i), data.y[i]);
  }
  Eigen::MatrixXd P = 0.5 * Eigen::MatrixXd::Identity(3, 3);
  Eigen::VectorXd moment = Eigen::VectorXd::Zero(3);
  double yy = 0.0;
  for (Eigen::Index i = 0; i < 12; ++i) {
    P += data.weights[i] * data.x.col(i) * data.x.col(i).transpose();
    moment += data.weights[i] * data.y[i] * data.x.col(i);
    yy += data.weights[i] * data.y[i] * data.y[i];
  }
  const Eigen::VectorXd mean = P.inverse() * moment;
  EXPECT_LT((posterior.precision() - P).norm(), 1e-10);
  EXPECT_LT((posterior.mean() - mean).norm(), 1e-10);
  EXPECT_NEAR(posterior.a(), 2.0 + 0.5 * data.weights.sum(), 1e-12);
  EXPECT_NEAR(posterior.b(), 1.5 + 0.5 * (yy - mean.dot(P * mean)), 1e-10);

  RegressionSums sums(3);
  add_to(sums, data.x, data.y, data.weights);
  const BayesLinear at_once(config, sums);
  EXPECT_LT((at_once.mean() - mean).norm(), 1e-10);
  EXPECT_NEAR(at_once.b(), posterior.b(), 1e-10);
}

TEST(DiscountedRegression, ForgetsToThePrior) {
  const Data data;
  BayesLinear posterior({.lambda = 0.5}, 3);
  for (Eigen::Index i = 0; i < 12; ++i) posterior.observe(data.x.col(i), data.y[i]);
  for (int i = 0; i < 400; ++i) posterior.discount(gamma);
  EXPECT_LT((posterior.precision() - 0.5 * Eigen::MatrixXd::Identity(3, 3)).norm(), 1e-12);
  EXPECT_LT(posterior.mean().norm(), 1e-12);
  EXPECT_NEAR(posterior.a(), 6.0, 1e-12);
  EXPECT_NEAR(posterior.b(), 6.0, 1e-9);
}

// A weight of two is an observation that was made twice, and the mode has no gradient.
TEST(WeightedLogistic, CountsAnObservationAsOftenAsItsWeight) {
  const Data data;
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(12);
  weights[4] = 2.0;
  Eigen::MatrixXd twice(3, 13);
  twice << data.x, data.x.col(4);
  Eigen::VectorXd rewards(13);
  rewards << data.y, data.y[4];
  const BayesLogistic weighed({}, data.x, data.y, weights);
  const BayesLogistic repeated({}, twice, rewards);
  EXPECT_LT((weighed.mean() - repeated.mean()).norm(), 1e-9);
  EXPECT_LT((weighed.precision() - repeated.precision()).norm(), 1e-9);
}

TEST(DiscountedLogistic, TakesTheLikelihoodsPartOfTheGaussian) {
  const Data data;
  for (const bool diagonal : {false, true}) {
    BayesLogistic posterior({.lambda = 0.7, .diagonal = diagonal}, 3);
    for (Eigen::Index i = 0; i < 12; ++i) posterior.observe(data.x.col(i), data.y[i]);
    const Eigen::MatrixXd prior = 0.7 * Eigen::MatrixXd::Identity(3, 3);
    const Eigen::MatrixXd P = gamma * (posterior.precision() - prior) + prior;
    const Eigen::VectorXd moment = gamma * posterior.precision() * posterior.mean();
    posterior.discount(gamma);
    EXPECT_LT((posterior.precision() - P).norm(), 1e-12);
    EXPECT_LT((P * posterior.mean() - moment).norm(), 1e-12);
  }
}

TEST(DiscountedDesign, LeavesThePriorAlone) {
  GradientDesign design({.lambda = 2.0}, 2);
  const std::vector<float> g = {3.0F, 0.0F};
  design.add(g);
  design.discount(0.5);
  EXPECT_NEAR(design.norm(g), 3.0 / std::sqrt(2.0 + 4.5), 1e-12);
  EXPECT_NEAR(design.norm(std::vector<float>{0.0F, 1.0F}), 1.0 / std::sqrt(2.0), 1e-12);
}

class DiscountedHistory : public testing::TestWithParam<int> {};  // the capacity

TEST_P(DiscountedHistory, DrawsInProportionToWeights) {
  History history(1, 1, {.capacity = GetParam(), .discount = 0.8});
  for (int i = 0; i < 13; ++i) {
    const float x = static_cast<float>(i);
    history.add({.context = {&x, 1}, .action = 0, .reward = x});
  }
  std::vector<double> p(history.size());
  double total = 0.0;
  for (std::size_t slot = 0; slot < p.size(); ++slot) {
    p[slot] = std::pow(0.8, 12.0 - history[slot].reward);  // the reward says when it came
    EXPECT_NEAR(history.weight(slot), p[slot], 1e-12);
    total += p[slot];
  }
  EXPECT_NEAR(history.weight(), total, 1e-12);
  for (double& value : p) value /= total;
  Stream stream({.seed = 5, .purpose = Purpose::minibatch});
  std::vector<double> counts(p.size(), 0.0);
  for (int i = 0; i < 50000; ++i) counts[history.draw_slot(stream)] += 1.0;
  expect_frequencies(counts, p);
}

INSTANTIATE_TEST_SUITE_P(Capacities, DiscountedHistory, testing::Values(0, 5, 13, 100));

TEST(DiscountedHistory, WithoutADiscountEveryObservationWeighsOne) {
  History history(1, 1, {.capacity = 4});
  const float x = 0.0F;
  for (int i = 0; i < 6; ++i) history.add({.context = {&x, 1}, .action = 0, .reward = 0.0F});
  EXPECT_EQ(history.weight(), 4.0);
  for (std::size_t slot = 0; slot < 4; ++slot) EXPECT_EQ(history.weight(slot), 1.0);
  EXPECT_THROW(History(1, 1, {.discount = 0.0}), Error);
  EXPECT_THROW(History(1, 1, {.discount = 1.1}), Error);
}

}  // namespace
}  // namespace pits::test
