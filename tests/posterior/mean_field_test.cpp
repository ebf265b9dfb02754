#include "pits/posterior/mean_field.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Dense>

#include "model/plain_gaussian.h"
#include "posterior/observations.h"

namespace pits::test {
namespace {

// The bound by plain loops at (means, log σ): (1/B) Σ log N(r; m, sd²) − KL/n.
double plain_bound(const GaussianProblem& p, const std::vector<double>& theta, const MeanFieldConfig& c, double n) {
  const std::size_t P = theta.size() / 2;
  const std::vector<double> mean(theta.begin(), theta.begin() + static_cast<std::ptrdiff_t>(P));
  std::vector<double> variance(P);
  for (std::size_t i = 0; i < P; ++i) variance[i] = std::exp(2.0 * theta[P + i]);
  double sum = 0.0;
  for (std::size_t b = 0; b < p.data.size(); ++b) {
    const double z =
        (p.data[b].reward - p.plain.output(mean, variance, p.data[b].x, p.data[b].action, p.noise_of(b))) / c.noise_sd;
    sum -= 0.5 * z * z / static_cast<double>(p.data.size());
  }
  std::size_t at = 0;
  for (std::size_t l = 0; l + 1 < p.plain.widths.size(); ++l) {
    const double s2 = c.prior_variance / static_cast<double>(p.plain.widths[l]);
    const std::size_t weights = p.plain.widths[l] * p.plain.widths[l + 1];
    for (std::size_t i = at; i < at + weights; ++i) {
      sum -= c.kl / n * (0.5 * (variance[i] + mean[i] * mean[i]) / s2 - 0.5 - 0.5 * std::log(variance[i] / s2));
    }
    at += weights + p.plain.widths[l + 1];
  }
  return sum;
}

RC_GTEST_PROP(MeanField, GradientIsTheFiniteDifferenceOfTheBound, ()) {
  MeanFieldConfig c;
  c.hidden.resize(any_between(0, 3));
  for (int& width : c.hidden) width = static_cast<int>(any_between(1, 8));
  c.activation = Activation::tanh;
  c.noise_sd = *rc::gen::element(0.3, 1.0);
  c.prior_variance = *rc::gen::element(0.5, 2.0);
  c.kl = *rc::gen::element(0.0, 1.0, 3.0);
  const double n = *rc::gen::element(1.0, 20.0);
  const std::size_t d = any_between(1, 8), K = any_between(1, 5);
  const GaussianProblem p =
      gaussian_problem(c.hidden, d, K, any_between(1, 20), Activation::tanh, *rc::gen::arbitrary<std::uint64_t>());
  const std::size_t P = p.mean.size();
  std::vector<double> theta(p.mean.begin(), p.mean.end());
  for (const float v : p.variance) theta.push_back(static_cast<float>(0.5 * std::log(v)));

  MeanField posterior(c, d, K, {.seed = 1});
  posterior.set_parameters(std::vector<float>(theta.begin(), theta.end()));
  GaussianNetwork::Workspace w;
  w.noise = p.noise;
  std::vector<float> gradient(2 * P);
  posterior.gradient(p.batch, n, w, gradient);
  for (std::size_t i = 0; i < 2 * P; i += 1 + P / 20) {
    constexpr double h = 1e-5;
    std::vector<double> above = theta, below = theta;
    above[i] += h;
    below[i] -= h;
    const double slope = (plain_bound(p, above, c, n) - plain_bound(p, below, c, n)) / (2 * h);
    RC_ASSERT(std::abs(gradient[i] - slope) < 3e-3 * (1.0 + std::abs(slope)));
  }
}

// log q − log p of draws from q, on average, within four standard errors of the closed form.
TEST(MeanField, DivergenceIsTheMonteCarloOne) {
  const MeanFieldConfig c{.hidden = {3}, .prior_variance = 2.0, .init_mean_sd = 0.5, .init_log_sd = -1.0};
  const MeanField posterior(c, 2, 2, {.seed = 5});
  const GaussianWeights q = posterior.weights();
  constexpr int n = 20000;
  double sum = 0.0, square = 0.0;
  Stream stream({.seed = 3, .purpose = Purpose::target_sample});
  for (int k = 0; k < n; ++k) {
    double difference = 0.0;
    for (std::size_t i = 0; i < q.mean.size(); ++i) {
      if ((i >= 6 && i < 9) || i >= 15) continue;       // biases: 3 after 2·3 weights, 2 after 3·2
      const double s2 = i < 6 ? 2.0 / 2.0 : 2.0 / 3.0;  // 2 over the layer's inputs
      const double z = stream.normal();
      const double weight = q.mean[i] + std::sqrt(q.variance[i]) * z;
      difference += -0.5 * z * z - 0.5 * std::log(q.variance[i]) + 0.5 * weight * weight / s2 + 0.5 * std::log(s2);
    }
    sum += difference / n;
    square += difference * difference / n;
  }
  EXPECT_NEAR(posterior.divergence(), sum, 4.0 * std::sqrt((square - sum * sum) / n));
}

TEST(MeanField, DivergenceFromThePriorItselfIsZero) {
  const MeanFieldConfig c{.hidden = {}, .prior_variance = 3.0};
  MeanField posterior(c, 3, 2, {.seed = 5});
  posterior.set_parameters(std::vector<float>(16, 0.0F));  // means 0, σ 1 = √(3/3)
  EXPECT_NEAR(posterior.divergence(), 0.0, 1e-6);
}

// Linear model, n observations of one action: means solve the ridge regression with a free intercept, and
// σ_j² = 1/(Σ x_j²/noise² + 1/s²).
struct LinearOptimum {
  std::vector<double> mean, variance;

  LinearOptimum(const std::vector<PlainObservation>& data, std::size_t d, double noise_sd, double s2) {
    const auto n = static_cast<Eigen::Index>(d) + 1;
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
    Eigen::VectorXd b = Eigen::VectorXd::Zero(n);
    for (const PlainObservation& o : data) {
      Eigen::VectorXd x = Eigen::VectorXd::Ones(n);
      for (std::size_t j = 0; j < d; ++j) x[static_cast<Eigen::Index>(j)] = o.x[j];
      A += x * x.transpose() / (noise_sd * noise_sd);
      b += o.reward * x / (noise_sd * noise_sd);
    }
    for (Eigen::Index j = 0; j + 1 < n; ++j) A(j, j) += 1.0 / s2;
    const Eigen::VectorXd solution = A.ldlt().solve(b);
    mean.assign(solution.begin(), solution.end());
    for (Eigen::Index j = 0; j + 1 < n; ++j) variance.push_back(1.0 / A(j, j));
  }
};

struct LinearCase {
  static constexpr std::size_t d = 3;
  MeanFieldConfig config{.hidden = {}, .noise_sd = 0.5, .prior_variance = 0.3, .batch = 64};
  std::vector<PlainObservation> data = linear_data(60, d, 1, 7);
  LinearOptimum optimum{data, d, 0.5, 0.1};
  MeanField posterior{config, d, 1, {.seed = 2}};

  LinearCase() {
    for (const PlainObservation& o : data) {
      const std::vector<float> x(o.x.begin(), o.x.end());
      posterior.observe({.context = x, .action = 0, .reward = static_cast<float>(o.reward)});
    }
  }
};

// At the known optimum the gradient averages to zero over the noise, within four standard errors.
TEST(MeanField, LinearModelRestsAtTheKnownOptimum) {
  LinearCase c;
  std::vector<float> theta(c.optimum.mean.begin(), c.optimum.mean.end());
  for (const double v : c.optimum.variance) theta.push_back(static_cast<float>(0.5 * std::log(v)));
  theta.push_back(0.0F);
  c.posterior.set_parameters(theta);
  Minibatch batch;
  c.posterior.history().all(batch);
  batch.likelihood_scale = 1.0F / 60.0F;
  constexpr int n = 4000;
  std::vector<double> sum(8), square(8);
  GaussianNetwork::Workspace w;
  std::vector<float> gradient(8);
  Stream stream({.seed = 6, .purpose = Purpose::target_sample});
  for (int k = 0; k < n; ++k) {
    w.noise.reshape(1, 60);
    stream.fill_normal(w.noise.flat());
    c.posterior.gradient(batch, 60.0, w, gradient);
    for (std::size_t i = 0; i < 8; ++i) {
      sum[i] += gradient[i] / n;
      square[i] += static_cast<double>(gradient[i]) * gradient[i] / n;
    }
  }
  for (std::size_t i = 0; i < 7; ++i) {
    const double error = std::sqrt((square[i] - sum[i] * sum[i]) / n);
    // The floor of 1e-6 under the root moves σ² by a share of about 1e-6/Σσ²x².
    EXPECT_NEAR(sum[i], 0.0, 4.0 * error + 1e-4) << i;
    EXPECT_GT(error, 0.0);
  }
  EXPECT_EQ(gradient[7], 0.0F);  // a bias has no σ
}

// Training gets there: within half a posterior standard deviation, and σ within a tenth. Halving the data's weight in
// the bound would put σ off by √2, a wrong divisor of the divergence the means by more than one.
TEST(MeanField, TrainingFindsTheKnownOptimum) {
  LinearCase c;
  c.config.optimizer = {.rule = Rule::adam, .step = 0.05, .schedule = Schedule::exponential, .decay = 2e-3};
  MeanField posterior(c.config, LinearCase::d, 1, {.seed = 2});
  for (const PlainObservation& o : c.data) {
    const std::vector<float> x(o.x.begin(), o.x.end());
    posterior.observe({.context = x, .action = 0, .reward = static_cast<float>(o.reward)});
  }
  posterior.train(4000);
  const GaussianWeights q = posterior.weights();
  for (std::size_t j = 0; j < LinearCase::d; ++j) {
    const double sd = std::sqrt(c.optimum.variance[j]);
    EXPECT_NEAR(q.mean[j], c.optimum.mean[j], 0.5 * sd) << j;
    EXPECT_NEAR(std::sqrt(q.variance[j]) / sd, 1.0, 0.1) << j;
  }
}

TEST(MeanField, StartsWhereTheShowdownStarts) {
  const MeanField posterior({}, 40, 5, {.seed = 3, .realization = 1});
  double mean = 0.0, log_sd = 0.0, spread = 0.0;
  const GaussianWeights q = posterior.weights();
  const auto n = static_cast<double>(q.mean.size());
  for (std::size_t i = 0; i < q.mean.size(); ++i) {
    mean += q.mean[i] * q.mean[i] / n;
    log_sd += 0.5 * std::log(q.variance[i]) / n;
    spread += std::pow(0.5 * std::log(q.variance[i]) + 5.0, 2) / n;
  }
  EXPECT_NEAR(mean, 0.0025, 4.0 * 0.0025 * std::sqrt(2.0 / n));
  EXPECT_NEAR(log_sd, -5.0, 4.0 * 0.05 / std::sqrt(n));
  EXPECT_NEAR(spread, 0.0025, 4.0 * 0.0025 * std::sqrt(2.0 / n));
}

TEST(MeanField, RefusesWhatDoesNotFit) {
  EXPECT_THROW(MeanField({}, 0, 2, {.seed = 1}), Error);
  EXPECT_THROW(MeanField({}, 2, 0, {.seed = 1}), Error);
  EXPECT_THROW(MeanField({.noise_sd = 0.0}, 2, 2, {.seed = 1}), Error);
  MeanField posterior({}, 2, 2, {.seed = 1});
  EXPECT_THROW(posterior.train(1), Error);
  EXPECT_THROW(posterior.set_parameters(std::vector<float>(3)), Error);
}

TEST(MeanField, SaysThatItDiverged) {
  MeanFieldConfig c;
  c.optimizer = {.rule = Rule::sgd, .step = 1e6};
  MeanField posterior(c, 2, 2, {.seed = 1});
  const float x[] = {1.0F, 2.0F};
  posterior.observe({.context = x, .action = 0, .reward = 1.0F});
  EXPECT_THROW(posterior.train(100), Error);
}

}  // namespace
}  // namespace pits::test
