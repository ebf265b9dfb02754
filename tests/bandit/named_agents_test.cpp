// Agents of the catalogue, by name, against what their papers say of them: closed forms and plain loops.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "flow/plain_loops.h"
#include "pits/bandit/bandit.h"

namespace pits::test {
namespace {

struct Seen {
  std::vector<float> x;
  float reward;
};

// r = x·β + ½ + N(0, ½²), x ~ N(0, I) of two numbers.
std::vector<Seen> line(std::size_t n, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  std::vector<Seen> data(n, Seen{.x = std::vector<float>(2), .reward = 0.0F});
  for (Seen& o : data) {
    for (float& x : o.x) x = static_cast<float>(stream.normal());
    o.reward = static_cast<float>(0.5 + 0.8 * o.x[0] - 0.3 * o.x[1] + 0.5 * stream.normal());
  }
  return data;
}

// A bandit of one action that has seen the data.
Bandit taught(const std::string& spec, const std::vector<Seen>& data) {
  Bandit bandit(spec, {.context_size = data.front().x.size(), .actions = 1, .seed = 8});
  for (const Seen& o : data) bandit.learn(o.x, 0, o.reward);
  return bandit;
}

// The mean reward at x under draws 0 .. M−1.
std::vector<double> drawn(const Bandit& bandit, const std::vector<float>& x, std::uint32_t M) {
  std::vector<double> values(M);
  for (std::uint32_t i = 0; i < M; ++i) EXPECT_TRUE(bandit.agent().draw_rewards(x, i, {&values[i], 1}));
  return values;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double covariance_of(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size() - 1);
}

// Lu and Van Roy 2017: a linear member that fits perturbed rewards and is regularised towards its own draw from the
// prior is a draw from the posterior N(m, Σ), Σ⁻¹ = ΛI + XᵀX/σ², m = ΣXᵀr/σ². So the predictions of M members at two
// contexts have means φ·m and covariance φᵀΣψ, φ = (x, 1). 4.5 standard errors of M independent normal draws; training
// on all data at once leaves an error of about (1 − step · least eigenvalue of Σ⁻¹)^300 < 1e-6.
TEST(EnsembleSampling, MembersAreDrawsFromTheExactPosterior) {
  constexpr std::uint32_t M = 400;
  constexpr double noise = 0.5, prior = 2.0;
  const auto data = line(25, 31);
  const Bandit bandit = taught(
      "ensemble-sampling,model=linear,noise_sd=0.5,prior=same,prior_precision=2,particles=400,batch=0,optimizer=sgd,"
      "step=0.002,schedule=constant,train_every=25,train_steps=300",
      data);
  Eigen::MatrixXd precision = prior * Eigen::MatrixXd::Identity(3, 3);
  Eigen::VectorXd moment = Eigen::VectorXd::Zero(3);
  for (const Seen& o : data) {
    const Eigen::Vector3d phi(o.x[0], o.x[1], 1.0);
    precision += phi * phi.transpose() / (noise * noise);
    moment += phi * o.reward / (noise * noise);
  }
  const Eigen::MatrixXd covariance = precision.inverse();
  const std::vector<std::vector<float>> asked = {{0.0F, 0.0F}, {1.0F, 0.0F}, {0.5F, -2.0F}};
  for (const auto& x : asked) {
    const Eigen::Vector3d phi(x[0], x[1], 1.0);
    const std::vector<double> at_x = drawn(bandit, x, M);
    const double variance = phi.dot(covariance * phi);
    EXPECT_NEAR(mean_of(at_x), phi.dot(covariance * moment), 4.5 * std::sqrt(variance / M));
    for (const auto& y : asked) {
      const Eigen::Vector3d psi(y[0], y[1], 1.0);
      const double expected = phi.dot(covariance * psi);
      const double error = std::sqrt((variance * psi.dot(covariance * psi) + expected * expected) / M);
      EXPECT_NEAR(covariance_of(at_x, drawn(bandit, y, M)), expected, 4.5 * error);
    }
  }
}

// A member that is a constant, and weighs n rewards by its own draws from Exp(1), ends at their weighted mean. Shares
// w_i/Σw of such weights are uniform on the simplex (Rubin 1981), so that over members the weighted mean has mean r̄ and
// variance s²/(n + 1), s² the mean of (r − r̄)². Weights of 0 and 1 that keep a share p would give s²(1 − p)/(p n),
// equal ones 0. 4.5 standard errors of M draws, whose kurtosis is at most 6, that of one exponential less its mean.
TEST(WeightedBootstrap, MembersHaveTheSpreadOfExponentialWeights) {
  constexpr std::uint32_t M = 1000;
  constexpr std::size_t n = 20;
  Stream stream({.seed = 3, .purpose = Purpose::target_sample});
  std::vector<Seen> data(n, Seen{.x = {0.0F}, .reward = 0.0F});
  for (Seen& o : data) o.reward = static_cast<float>(2.0 + 3.0 * stream.normal());
  double mean = 0.0, square = 0.0;
  for (const Seen& o : data) mean += o.reward / double{n};
  for (const Seen& o : data) square += std::pow(o.reward - mean, 2) / double{n};
  const double variance = square / (n + 1.0);
  const Bandit bandit = taught(
      "weighted-bootstrap,model=linear,noise_sd=1,particles=1000,batch=0,scale=data,optimizer=sgd,step=0.02,clip=0,"
      "schedule=constant,train_every=20,train_steps=200",
      data);
  const std::vector<double> members = drawn(bandit, {0.0F}, M);
  EXPECT_NEAR(mean_of(members), mean, 4.5 * std::sqrt(variance / M));
  EXPECT_NEAR(covariance_of(members, members), variance, 4.5 * variance * std::sqrt((6.0 + 2.0) / M));
}

// θ = (w₁, w₂, b) of every particle of a linear model, from its rewards at 0 and at the two unit vectors.
Rows parameters(const Bandit& bandit, std::uint32_t M) {
  const std::vector<double> b = drawn(bandit, {0.0F, 0.0F}, M);
  const std::vector<double> first = drawn(bandit, {1.0F, 0.0F}, M), second = drawn(bandit, {0.0F, 1.0F}, M);
  Rows theta(M);
  for (std::uint32_t i = 0; i < M; ++i) theta[i] = {first[i] - b[i], second[i] - b[i], b[i]};
  return theta;
}

// Three plain steps of Eq. 6 by plain loops, with the likelihood of all t observations: these are t times the same one,
// so that every minibatch says the same. Scores: G = t (r − m)/σ² (x, 1) − Λθ. Parameters are single precision numbers
// of about 1, and those of `parameters` are differences of them: rounding of a few 2⁻²⁴ per number and step.
TEST(PaperPreset, TrainsByEquation6OnTheScaledLikelihood) {
  constexpr std::uint32_t M = 6;
  constexpr double t = 30.0, noise = 0.5, prior = 2.0, step = 1e-3;
  const Seen o{.x = {0.7F, -0.4F}, .reward = 1.5F};
  const std::string spec =
      "pi-ts:paper,model=linear,noise_sd=0.5,prior=same,prior_precision=2,particles=6,batch=7,optimizer=sgd,step=0.001,"
      "schedule=constant,train_every=30,train_steps=3";
  PlainCloud cloud{.theta = parameters(Bandit(spec, {.context_size = 2, .actions = 1, .seed = 8}), M),
                   .score = zeros(M, 3),
                   .previous = {}};
  cloud.previous = cloud.theta;
  const Rows start = cloud.theta;
  for (int k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < M; ++i) {
      const Row& theta = cloud.theta[i];
      const Row phi = {o.x[0], o.x[1], 1.0};
      const double m = theta[0] * phi[0] + theta[1] * phi[1] + theta[2];
      for (std::size_t l = 0; l < 3; ++l) {
        cloud.score[i][l] = t * (o.reward - m) / (noise * noise) * phi[l] - prior * theta[l];
      }
    }
    Rows v = plain_svgd(cloud, plain_median(costs(cloud.theta, cloud.theta)) / std::log(M + 1.0));
    add_plain_transport(cloud, plain_median(costs(cloud.theta, cloud.previous)), 1.0, v);
    cloud.previous = cloud.theta;
    for (std::size_t i = 0; i < M; ++i) {
      for (std::size_t l = 0; l < 3; ++l) cloud.theta[i][l] += step * v[i][l];
    }
  }
  const Rows trained = parameters(taught(spec, std::vector<Seen>(30, o)), M);
  double moved = 0.0;
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t l = 0; l < 3; ++l) {
      EXPECT_NEAR(trained[i][l], cloud.theta[i][l], 1e-5);
      moved = std::max(moved, std::abs(cloud.theta[i][l] - start[i][l]));
    }
  }
  EXPECT_GT(moved, 0.05) << "the particles hardly moved, so this shows nothing";
}

// Riquelme et al. 2018: λ = 0.25 and a0 = b0 = 6, so that before any reward x·β is Student's t of 12 degrees of freedom
// with mean 0 and variance b0/(a0 − 1)·|φ|²/λ = 4.8|φ|², φ = (x, 1), and after n rewards of n contexts Student's t of
// 12 + n degrees. Its kurtosis is 3 + 6/(degrees − 4). Two forced pulls of each action.
TEST(LinTsByName, HasTheShowdownsPosterior) {
  constexpr std::uint32_t draws = 20000;
  const std::vector<float> x = {0.5F, -2.0F};
  const Eigen::Vector3d phi(x[0], x[1], 1.0);
  for (const std::size_t n : {0U, 9U}) {
    auto data = line(n + 1, 12);
    data.pop_back();
    Bandit bandit("lin-ts", {.context_size = 2, .actions = 1, .seed = 8});
    Eigen::MatrixXd precision = 0.25 * Eigen::MatrixXd::Identity(3, 3);
    Eigen::VectorXd moment = Eigen::VectorXd::Zero(3);
    double square = 0.0;
    for (const Seen& o : data) {
      bandit.learn(o.x, 0, o.reward);
      const Eigen::Vector3d row(o.x[0], o.x[1], 1.0);
      precision += row * row.transpose();
      moment += row * o.reward;
      square += o.reward * o.reward;
    }
    const Eigen::VectorXd mean = precision.inverse() * moment;
    const double a = 6.0 + 0.5 * static_cast<double>(n), b = 6.0 + 0.5 * (square - mean.dot(moment));
    const double variance = b / (a - 1.0) * phi.dot(precision.inverse() * phi);
    const double kurtosis = 3.0 + 6.0 / (2.0 * a - 4.0);
    const std::vector<double> values = drawn(bandit, x, draws);
    EXPECT_NEAR(mean_of(values), phi.dot(mean), 4.5 * std::sqrt(variance / draws)) << n;
    EXPECT_NEAR(covariance_of(values, values), variance, 4.5 * variance * std::sqrt((kurtosis - 1.0) / draws)) << n;
  }
  Bandit pulled("lin-ts", {.context_size = 2, .actions = 3, .seed = 8});
  for (std::uint32_t t = 0; t < 6; ++t) {
    const Choice choice = pulled.decide(x);
    EXPECT_EQ(choice.action, t % 3);
    EXPECT_EQ(choice.propensity, 1.0F);
    pulled.learn(choice.id, 0.0F);
  }
  std::vector<float> p(3);
  pulled.probabilities(x, p);
  for (const float share : p) EXPECT_LT(share, 1.0F) << "the seventh decision is not forced";
}

}  // namespace
}  // namespace pits::test
