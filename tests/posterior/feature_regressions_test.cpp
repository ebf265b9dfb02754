// Regressions on shared features against Eigen in double, and their draws against the covariances they stand for.
#include "pits/posterior/feature_regressions.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "pits/core/error.h"
#include "pits/core/io/archive.h"

namespace pits::test {
namespace {

constexpr std::size_t F = 5;

// Two groups; their precisions stay where they are unless `free`.
std::vector<CoefficientGroup> two_groups(bool free = false) {
  std::vector<CoefficientGroup> groups = {{.first = 0, .count = 4, .precision = 2.0},
                                          {.first = 4, .count = 1, .precision = 0.5}};
  for (CoefficientGroup& group : groups) {
    group.low = free ? 1e-4 : group.precision;
    group.high = free ? 1e4 : group.precision;
  }
  return groups;
}

struct Data {
  Eigen::MatrixXd x;  // (F, n)
  Eigen::VectorXd y;
  Data(Eigen::Index n, std::uint32_t step) : x(F, n), y(n) {
    Stream stream({.seed = 7, .purpose = Purpose::target_sample, .step = step});
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index l = 0; l < x.rows(); ++l) x(l, i) = static_cast<float>(stream.normal() + 0.5);
      y[i] = static_cast<float>(x(0, i) - 0.7 * x(3, i) + 0.5 * stream.normal());
    }
  }
  Data first(Eigen::Index n) const {
    Data some = *this;
    some.x = x.leftCols(n).eval();
    some.y = y.head(n).eval();
    return some;
  }
};

RegressionSums sums_of(const Data& data) {
  RegressionSums sums(F);
  sums.xx.triangularView<Eigen::Lower>() = data.x * data.x.transpose();
  sums.xy = data.x * data.y;
  sums.yy = data.y.squaredNorm();
  sums.n = static_cast<double>(data.y.size());
  return sums;
}

// The posterior of the data, by its definition.
struct Plain {
  Eigen::MatrixXd covariance;
  Eigen::VectorXd mean;
  double misfit;
  explicit Plain(const Data& data, const Eigen::VectorXd& prior = Eigen::VectorXd{{2.0, 2.0, 2.0, 2.0, 0.5}}) {
    const Eigen::MatrixXd precision = data.x * data.x.transpose() + Eigen::MatrixXd(prior.asDiagonal());
    covariance = precision.inverse();
    mean = covariance * (data.x * data.y);
    misfit = 0.5 * (data.y.squaredNorm() - mean.dot(precision * mean));
  }
};

Eigen::MatrixXd in_double(ConstMatrixView<float> m) {
  Eigen::MatrixXd out(m.rows(), m.cols());
  for (std::size_t i = 0; i < m.rows(); ++i) {
    for (std::size_t j = 0; j < m.cols(); ++j) {
      out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = m(i, j);
    }
  }
  return out;
}

void expect_posterior(const FeatureRegressions& r, std::size_t action, const Plain& plain, double tolerance) {
  const Eigen::VectorXd mean = in_double(r.mean().view().row_block(action, 1)).transpose();
  EXPECT_LT((mean - plain.mean).norm(), tolerance * plain.mean.norm());
  EXPECT_LT((in_double(r.covariance(action)) - plain.covariance).norm(), tolerance * plain.covariance.norm());
  EXPECT_NEAR(r.misfit(action), plain.misfit, tolerance * plain.misfit);
}

// Σ δδᵀ/S has an entry (i,j) of variance (P_ii P_jj + P_ij²)/S.
void expect_draws_of(const FeatureRegressions& r, std::size_t action, const Eigen::MatrixXd& P) {
  Eigen::MatrixXd second = Eigen::MatrixXd::Zero(F, F);
  Eigen::VectorXd first = Eigen::VectorXd::Zero(F);
  const auto S = static_cast<double>(r.draws());
  for (std::size_t s = 0; s < r.draws(); ++s) {
    const Eigen::VectorXd delta = in_double(r.deviation(s).row_block(action, 1)).transpose();
    first += delta / S;
    second += delta * delta.transpose() / S;
  }
  for (Eigen::Index i = 0; i < P.rows(); ++i) {
    EXPECT_LT(std::abs(first[i]), 4.5 * std::sqrt(P(i, i) / S)) << i;
    for (Eigen::Index j = 0; j <= i; ++j) {
      EXPECT_NEAR(second(i, j), P(i, j), 4.5 * std::sqrt((P(i, i) * P(j, j) + P(i, j) * P(i, j)) / S))
          << i << ", " << j;
    }
  }
}

Address draws_at(std::uint32_t step = 0) { return {.seed = 11, .purpose = Purpose::posterior_draw, .step = step}; }

// Columns from .. end of the data, one by one, with noise for every draw.
void observe_from(FeatureRegressions& r, std::size_t action, const Data& data, Eigen::Index from) {
  for (Eigen::Index i = from; i < data.y.size(); ++i) {
    Stream stream({.seed = 12, .purpose = Purpose::observation_noise, .step = static_cast<std::uint32_t>(i)});
    std::vector<float> noise(r.draws());
    stream.fill_normal(noise);
    const Eigen::VectorXf x = data.x.col(i).cast<float>();
    r.observe(action, {x.data(), F}, data.y[i], noise);
  }
}

TEST(FeatureRegressions, FitIsTheRegressionOfEveryAction) {
  const Data a(40, 1), c(3, 2);
  FeatureRegressions r(two_groups(), 3, 2, {.shape = 3.0, .scale = 0.7});
  const Address draws = draws_at();
  const std::vector<RegressionSums> sums = {sums_of(a), RegressionSums(F), sums_of(c)};
  r.fit(sums, draws);
  expect_posterior(r, 0, Plain(a), 1e-5);
  expect_posterior(r, 2, Plain(c), 1e-5);
  EXPECT_EQ(r.n(0), 40.0);
  EXPECT_EQ(r.n(1), 0.0);
  EXPECT_EQ(r.n(2), 3.0);
  EXPECT_EQ(r.covariance(1).size(), 0U);
  EXPECT_EQ(in_double(r.mean().view().row_block(1, 1)).norm(), 0.0);
  const double shared = (0.7 + Plain(a).misfit + Plain(c).misfit) / (3.0 + 43.0 / 2.0);
  EXPECT_NEAR(r.noise_variance(), shared, 1e-9);
  EXPECT_NEAR(r.noise_variance(shared, 1), shared, 1e-12);
  for (const std::size_t action : {0U, 2U}) EXPECT_GE(r.noise_variance(shared, action), shared);
}

TEST(FeatureRegressions, FitAgreesWithBayesLinear) {
  const Data a(25, 1);
  FeatureRegressions r(two_groups(), 1, 2, {.shape = 6.0, .scale = 6.0});
  const Address draws = draws_at();
  const RegressionSums sums = sums_of(a);
  r.fit({&sums, 1}, draws);
  BayesLinear plain({}, static_cast<Eigen::Index>(F));
  plain.fit({}, Eigen::VectorXd{{2.0, 2.0, 2.0, 2.0, 0.5}}, sums);
  EXPECT_LT((in_double(r.mean()).transpose() - plain.mean()).norm(), 1e-5);
  EXPECT_NEAR(r.misfit(0), plain.misfit(), 1e-9);
  EXPECT_NEAR(r.noise_variance(), plain.b() / plain.a(), 1e-9);
}

TEST(FeatureRegressions, FitForgetsWhatWasBefore) {
  const Data a(20, 1), b(15, 2);
  FeatureRegressions r(two_groups(), 2, 2, {});
  const Address draws = draws_at();
  r.start(draws);
  observe_from(r, 0, b, 0);
  observe_from(r, 1, b, 0);
  r.fit(std::vector<RegressionSums>{sums_of(a), RegressionSums(F)}, draws);
  expect_posterior(r, 0, Plain(a), 1e-5);
  EXPECT_EQ(r.covariance(1).size(), 0U);
  EXPECT_EQ(r.n(1) + r.misfit(1), 0.0);
}

TEST(FeatureRegressions, ObservationsAfterAFitAreAFitWithThem) {
  const Data data(40, 1);
  for (const Eigen::Index fitted : {0, 1, 30}) {
    FeatureRegressions r(two_groups(), 2, 3, {});
    const Address draws = draws_at();
    r.fit(std::vector<RegressionSums>{RegressionSums(F), sums_of(data.first(fitted))}, draws);
    observe_from(r, 1, data, fitted);
    expect_posterior(r, 1, Plain(data), 1e-4);
    EXPECT_EQ(r.n(1), 40.0);
    EXPECT_EQ(r.n(0), 0.0);
  }
}

TEST(FeatureRegressions, DrawsHaveTheCovarianceOfTheirPosterior) {
  const Data data(18, 1);
  for (const Eigen::Index fitted : {0, 1, 12}) {
    FeatureRegressions r(two_groups(), 2, 4000, {});
    const Address draws = draws_at();
    r.start(draws);
    r.fit(std::vector<RegressionSums>{sums_of(data), sums_of(data.first(fitted))}, draws);
    expect_draws_of(r, 0, Plain(data).covariance);
    expect_draws_of(r, 1, Plain(data.first(fitted)).covariance);
    observe_from(r, 1, data, fitted);
    expect_draws_of(r, 1, Plain(data).covariance);
    expect_draws_of(r, 0, Plain(data).covariance);
  }
}

TEST(FeatureRegressions, DrawsStartFromThePrior) {
  FeatureRegressions r(two_groups(), 2, 4000, {});
  const Address draws = draws_at();
  r.start(draws);
  const Data data(6, 1);
  for (const std::size_t action : {0U, 1U}) expect_draws_of(r, action, Plain(data.first(0)).covariance);
  observe_from(r, 0, data, 0);
  expect_draws_of(r, 0, Plain(data).covariance);
}

// A fit moves the precisions; an action that it knew nothing of has the prior of the new ones, and so have its draws.
TEST(FeatureRegressions, DrawsOfAnActionWithoutObservationsFollowThePrecisions) {
  const Data data(60, 1), later(3, 2);
  FeatureRegressions r(two_groups(true), 2, 4000, {});
  const Address draws = draws_at();
  r.start(draws);
  r.fit(std::vector<RegressionSums>{sums_of(data), RegressionSums(F)}, draws);
  Eigen::VectorXd prior = Eigen::VectorXd::Constant(F, r.groups()[0].precision);
  prior[4] = r.groups()[1].precision;
  ASSERT_GT(std::abs(prior[0] - 2.0), 0.5);  // else it says nothing
  expect_draws_of(r, 1, Plain(later.first(0), prior).covariance);
  observe_from(r, 1, later, 0);
  expect_posterior(r, 1, Plain(later, prior), 1e-4);
  expect_draws_of(r, 1, Plain(later, prior).covariance);
}

// 60 actions with coefficients from N(0, σ²/λ): 240 of them tell λ to one part in √(240/2) at best, and the evidence
// finds it to four times that.
TEST(FeatureRegressions, TheEvidenceFindsThePrecision) {
  constexpr double sd = 0.5, lambda = 8.0;
  std::vector<RegressionSums> sums;
  for (std::uint32_t a = 0; a < 60; ++a) {
    Data data(50, 100 + a);
    Stream stream({.seed = 13, .purpose = Purpose::target_sample, .step = a});
    Eigen::VectorXd beta(F);
    for (double& b : beta) b = stream.normal() * sd / std::sqrt(lambda);
    for (Eigen::Index i = 0; i < 50; ++i) data.y[i] = data.x.col(i).dot(beta) + sd * stream.normal();
    sums.push_back(sums_of(data));
  }
  FeatureRegressions r(two_groups(true), 60, 1, {});
  const Address draws = draws_at();
  for (int i = 0; i < 30; ++i) r.fit(sums, draws);
  EXPECT_LT(std::abs(std::log(r.groups()[0].precision / lambda)), 4.0 / std::sqrt(240.0 / 2.0));
  EXPECT_LT(std::abs(std::log(r.groups()[1].precision / lambda)), 4.0 / std::sqrt(60.0 / 2.0));
  EXPECT_NEAR(r.noise_variance(), sd * sd, 4.0 * sd * sd * std::sqrt(2.0 / 3000.0));
}

TEST(FeatureRegressions, MoreActionsStartFromThePriorAndLeaveTheOthers) {
  const Data data(20, 1);
  FeatureRegressions r(two_groups(), 2, 4000, {});
  const Address draws = draws_at(), later = draws_at(1);
  r.fit(std::vector<RegressionSums>{sums_of(data), sums_of(data.first(4))}, draws);
  const FeatureRegressions before = r;
  r.add_actions(2, later);
  ASSERT_EQ(r.actions(), 4U);
  ASSERT_EQ(r.draws(), 4000U);
  for (const std::size_t action : {0U, 1U}) {
    EXPECT_EQ(in_double(r.mean().view().row_block(action, 1)), in_double(before.mean().view().row_block(action, 1)));
    EXPECT_EQ(in_double(r.covariance(action)), in_double(before.covariance(action)));
    EXPECT_EQ(r.misfit(action), before.misfit(action));
    for (const std::size_t s : {0U, 1U, 3999U}) {
      EXPECT_EQ(in_double(r.deviation(s).row_block(action, 1)), in_double(before.deviation(s).row_block(action, 1)));
    }
  }
  for (const std::size_t action : {2U, 3U}) {
    expect_draws_of(r, action, Plain(data.first(0)).covariance);
    EXPECT_EQ(r.n(action), 0.0);
  }
  observe_from(r, 3, data, 0);
  expect_posterior(r, 3, Plain(data), 1e-4);
}

TEST(FeatureRegressions, GoOnAsSavedFromTheirState) {
  const Data data(20, 1), more(9, 2);
  FeatureRegressions r(two_groups(true), 3, 4, {}), other(two_groups(true), 3, 4, {});
  const Address draws = draws_at(), elsewhere = draws_at(1);
  r.fit(std::vector<RegressionSums>{sums_of(data), RegressionSums(F), sums_of(data.first(2))}, draws);
  observe_from(other, 1, more, 0);  // to be forgotten
  other.start(elsewhere);
  Archive saved;
  r.state(saved);
  Archive read(saved.bytes());
  other.state(read);
  read.finish();
  EXPECT_EQ(other.covariance(1).size(), 0U);
  for (FeatureRegressions* each : {&r, &other}) {
    for (const std::size_t action : {0U, 1U}) observe_from(*each, action, more, 0);
  }
  Archive after, after_reading;
  r.state(after);
  other.state(after_reading);
  EXPECT_EQ(after.bytes(), after_reading.bytes());
  FeatureRegressions narrow({{.first = 0, .count = 3, .precision = 1.0}}, 3, 4, {});
  Archive again(saved.bytes());
  EXPECT_THROW(narrow.state(again), Error);
}

}  // namespace
}  // namespace pits::test
