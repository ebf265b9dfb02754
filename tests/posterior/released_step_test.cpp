// One training step of the authors' released code (docs/method.md, section 3), from minibatch to sign step, by plain
// loops in double. The minibatch is the only thing taken from the code under test: by its address, through History.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "posterior/observations.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 3;
constexpr std::size_t K = 2;
constexpr std::uint64_t seed = 31;
constexpr std::uint32_t realization = 4;
constexpr double step = 1e-3;
constexpr double epsilon = 1e-6;

using Cloud2 = std::vector<std::vector<double>>;  // (M,P)

PosteriorConfig released(int M) {
  PosteriorConfig c{.particles = M, .batch = 24, .scale = LikelihoodScale::minibatch};
  c.model = {.hidden = {4},
             .noise_sd = std::sqrt(0.5),
             .prior = PriorScale::same,
             .prior_precision = 0.1,
             .init = Init::fan_in};
  c.flow.kind = FlowKind::dgf_released;
  c.optimizer = {.rule = Rule::sign, .step = step, .epsilon = epsilon};
  return c;
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t l = 0; l < a.size(); ++l) sum += (a[l] - b[l]) * (a[l] - b[l]);
  return sum;
}

// s² = median(c)/(2 log(M+1)), the median over all M² entries.
double released_width(const Cloud2& a, const Cloud2& b) {
  std::vector<double> c;
  for (const auto& x : a) {
    for (const auto& y : b) c.push_back(squared_distance(x, y));
  }
  std::ranges::sort(c);
  const double median = 0.5 * (c[(c.size() - 1) / 2] + c[c.size() / 2]);
  return median / (2.0 * std::log(static_cast<double>(a.size()) + 1.0));
}

// (K·G + ½W)/M, W_i = Σ_j e^{−c_ij/2s′²}(1 − c_ij/s′²)(θ_i − θ′_j).
Cloud2 released_velocity(const Cloud2& theta, const Cloud2& previous, const Cloud2& G) {
  const std::size_t M = theta.size();
  const double s2 = released_width(theta, theta);
  const double s2_moved = released_width(theta, previous);
  Cloud2 v(M, std::vector<double>(theta[0].size(), 0.0));
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      const double k = std::exp(-squared_distance(theta[i], theta[j]) / (2.0 * s2));
      const double c = squared_distance(theta[i], previous[j]);
      const double w = std::exp(-c / (2.0 * s2_moved)) * (1.0 - c / s2_moved);
      for (std::size_t l = 0; l < v[i].size(); ++l) {
        v[i][l] += (k * G[j][l] + 0.5 * w * (theta[i][l] - previous[j][l])) / static_cast<double>(M);
      }
    }
  }
  return v;
}

// The observations of training step k, read back from the layout of a minibatch.
std::vector<PlainObservation> minibatch_of_step(const Posterior& posterior, std::uint32_t k, std::size_t B) {
  Minibatch batch;
  Stream stream({.seed = seed, .realization = realization, .purpose = Purpose::minibatch, .step = k});
  posterior.history().sample(stream, B, batch);
  std::vector<PlainObservation> data;
  for (std::size_t a = 0; a < K; ++a) {
    for (std::size_t b = batch.group_start[a]; b < batch.group_start[a + 1]; ++b) {
      PlainObservation o{.x = std::vector<double>(d), .action = a, .reward = batch.rewards[b]};
      for (std::size_t l = 0; l < d; ++l) o.x[l] = batch.contexts(l, b);
      data.push_back(std::move(o));
    }
  }
  return data;
}

// U is quadratic in each single parameter of a one-layer ReLU net: central differences are exact up to rounding.
Cloud2 plain_scores(const PosteriorConfig& config, const Cloud2& theta, const std::vector<PlainObservation>& data) {
  const PlainModel model{config.model, d, K};
  Cloud2 G;
  for (const auto& particle : theta) {
    G.push_back(central_differences([&](const auto& t) { return model.log_posterior(t, data, 1.0); }, particle));
  }
  return G;
}

Cloud2 cloud_of(const Posterior& posterior) {
  Cloud2 cloud;
  for (std::size_t i = 0; i < posterior.particles().rows(); ++i)
    cloud.push_back(as_double(posterior.particles().row(i)));
  return cloud;
}

// θ rounds by 6e-8; the sign step passes an error δ of v on as step·ε·δ/(|v| + ε)², so only a v within δ of 0 may
// differ.
void expect_sign_step(const Cloud2& before, const Cloud2& after, const Cloud2& v) {
  constexpr double rounding = 1e-5;  // of v, whose terms are sums over 24 observations of order 10
  std::size_t undecided = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (std::size_t l = 0; l < v[i].size(); ++l) {
      const double expected = before[i][l] + step * v[i][l] / (std::abs(v[i][l]) + epsilon);
      if (std::abs(v[i][l]) < 3.0 * rounding && v[i][l] != 0.0) {
        ++undecided;
        continue;
      }
      const double slack = std::abs(v[i][l]) - rounding + epsilon;
      EXPECT_NEAR(after[i][l], expected, 1.5e-7 + step * epsilon * rounding / (slack * slack)) << i << ' ' << l;
    }
  }
  EXPECT_LE(undecided, 2U);
}

class ReleasedStep : public testing::TestWithParam<int> {};

// Step 0 has θ′ = θ; the later ones look back one step. M² is odd and even, for the median.
TEST_P(ReleasedStep, AgreesWithThePlainLoops) {
  const PosteriorConfig config = released(GetParam());
  Posterior posterior(config, d, K, {.seed = seed, .realization = realization});
  for (const PlainObservation& o : linear_data(40, d, K, 32)) observe(posterior, o);
  Cloud2 previous = cloud_of(posterior);
  for (std::uint32_t k = 0; k < 4; ++k) {
    const Cloud2 theta = cloud_of(posterior);
    const Cloud2 G = plain_scores(config, theta, minibatch_of_step(posterior, k, 24));
    posterior.train(1);
    expect_sign_step(theta, cloud_of(posterior), released_velocity(theta, previous, G));
    previous = theta;
  }
}
INSTANTIATE_TEST_SUITE_P(Clouds, ReleasedStep, testing::Values(5, 6));

}  // namespace
}  // namespace pits::test
