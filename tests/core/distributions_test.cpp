// Draws against their laws, with fixed seeds: sample moments within 4 standard errors, and Kolmogorov's distance
// below the bound that a right sampler exceeds once in a thousand seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "chi_square.h"
#include "pits/core/error.h"
#include "pits/core/random.h"

namespace pits {
namespace {

constexpr std::size_t sample_size = 100000;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Stream stream_at(std::uint32_t step) {
  return Stream({.seed = 20240607, .realization = 1, .purpose = Purpose::target_sample, .step = step});
}

struct Law {
  double mean;
  double variance;
  double fourth;  // central moment
  std::function<double(double)> cdf;
};

double kolmogorov_distance(std::vector<double> xs, const std::function<double(double)>& cdf) {
  std::ranges::sort(xs);
  const auto n = static_cast<double>(xs.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double f = cdf(xs[i]);
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, f - rank / n, (rank + 1.0) / n - f});
  }
  return distance;
}

void expect_law(const std::vector<double>& xs, const Law& law) {
  const auto n = static_cast<double>(xs.size());
  double mean = 0.0;
  double variance = 0.0;
  for (const double x : xs) mean += x / n;
  for (const double x : xs) variance += (x - law.mean) * (x - law.mean) / n;
  EXPECT_NEAR(mean, law.mean, 4.0 * std::sqrt(law.variance / n));
  EXPECT_NEAR(variance, law.variance, 4.0 * std::sqrt((law.fourth - law.variance * law.variance) / n));
  // P(D > 1.95/√n) = 2 exp(−2·1.95²) ≈ 0.001.
  EXPECT_LT(kolmogorov_distance(xs, law.cdf), 1.95 / std::sqrt(n));
}

std::vector<double> draws(std::uint32_t step, const std::function<double(Stream&)>& draw) {
  Stream stream = stream_at(step);
  std::vector<double> xs(sample_size);
  for (double& x : xs) x = draw(stream);
  return xs;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// The regularised lower incomplete gamma function: series below a + 1, Lentz's continued fraction above
// (Abramowitz and Stegun 6.5.29 and 6.5.31).
double gamma_cdf(double a, double x) {
  if (x <= 0.0) return 0.0;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1.0) {
    double term = 1.0 / a;
    double sum = term;
    for (int k = 1; std::abs(term) > 1e-15 * sum; ++k) {
      term *= x / (a + k);
      sum += term;
    }
    return front * sum;
  }
  double b = x + 1.0 - a;
  double c = infinity;
  double d = 1.0 / b;
  double h = d;
  for (int k = 1; k < 1000; ++k) {
    b += 2.0;
    d = 1.0 / (-k * (k - a) * d + b);
    c = b - k * (k - a) / c;
    h *= d * c;
    if (std::abs(d * c - 1.0) < 1e-15) break;
  }
  return 1.0 - front * h;
}

TEST(Reference, IncompleteGammaAgreesWithItsClosedForms) {
  for (const double x : {0.01, 0.5, 1.0, 1.9, 2.1, 5.0, 20.0}) {
    EXPECT_NEAR(gamma_cdf(1.0, x), -std::expm1(-x), 1e-13);
    EXPECT_NEAR(gamma_cdf(0.5, x), std::erf(std::sqrt(x)), 1e-13);
    EXPECT_NEAR(gamma_cdf(3.0, x), 1.0 - std::exp(-x) * (1.0 + x + x * x / 2.0), 1e-13);
  }
}

TEST(Distribution, Uniform) {
  const Law law{0.5, 1.0 / 12.0, 1.0 / 80.0, [](double x) { return x; }};
  expect_law(draws(1, [](Stream& s) { return s.uniform(); }), law);
  expect_law(draws(2, [](Stream& s) { return static_cast<double>(s.uniform_float()); }), law);
}

TEST(Distribution, Normal) { expect_law(draws(3, &Stream::normal), {0.0, 1.0, 3.0, normal_cdf}); }

// Box-Muller's two normals share a radius and an angle; neither they nor their squares may be correlated.
TEST(Distribution, ConsecutiveNormalsAreIndependent) {
  Stream stream = stream_at(4);
  double product = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < sample_size; ++i) {
    const double x = stream.normal();
    const double y = stream.normal();
    product += x * y;
    squares += (x * x - 1.0) * (y * y - 1.0);  // standard deviation 2
  }
  const auto n = static_cast<double>(sample_size);
  EXPECT_LT(std::abs(product / n), 4.0 / std::sqrt(n));
  EXPECT_LT(std::abs(squares / n), 8.0 / std::sqrt(n));
}

TEST(Distribution, FillNormalScalesByTheStandardDeviation) {
  std::vector<float> values(sample_size);
  stream_at(5).fill_normal(values, 3.0F);
  expect_law({values.begin(), values.end()}, {0.0, 9.0, 243.0, [](double x) { return normal_cdf(x / 3.0); }});
}

TEST(Distribution, Gamma) {
  std::uint32_t step = 10;
  for (const double k : {0.3, 1.0, 2.5, 50.0}) {
    SCOPED_TRACE(k);
    expect_law(draws(step++, [k](Stream& s) { return s.gamma(k); }),
               {k, k, 3.0 * k * k + 6.0 * k, [k](double x) { return gamma_cdf(k, x); }});
  }
}

TEST(Distribution, GammaRefusesAShapeThatIsNotPositiveAndFinite) {
  for (const double shape : {0.0, -1.0, nan, infinity}) EXPECT_THROW(stream_at(0).gamma(shape), Error) << shape;
}

Law beta_law(double a, double b, std::function<double(double)> cdf) {
  const double s = a + b;
  const double variance = a * b / (s * s * (s + 1.0));
  const double excess = 6.0 * ((a - b) * (a - b) * (s + 1.0) - a * b * (s + 2.0)) / (a * b * (s + 2.0) * (s + 3.0));
  return {a / s, variance, (3.0 + excess) * variance * variance, std::move(cdf)};
}

void expect_beta(std::uint32_t step, double a, double b, std::function<double(double)> cdf) {
  SCOPED_TRACE(testing::Message() << "a = " << a << ", b = " << b);
  expect_law(draws(step, [a, b](Stream& s) { return s.beta(a, b); }), beta_law(a, b, std::move(cdf)));
}

TEST(Distribution, BetaWithClosedForms) {
  expect_beta(20, 1.0, 1.0, [](double x) { return x; });
  expect_beta(21, 2.0, 2.0, [](double x) { return x * x * (3.0 - 2.0 * x); });
  expect_beta(22, 0.5, 0.5, [](double x) { return 2.0 / std::numbers::pi * std::asin(std::sqrt(x)); });
  expect_beta(23, 5.0, 1.0, [](double x) { return std::pow(x, 5.0); });
  expect_beta(24, 1.0, 30.0, [](double x) { return 1.0 - std::pow(1.0 - x, 30.0); });
}

// Both gammas underflow here, their ratio must not: nearly all mass is at the ends, half at each.
TEST(Distribution, BetaWithTinyShapesFallsOnTheEndsWithEqualProbability) {
  Stream stream = stream_at(30);
  constexpr int n = 20000;
  int high = 0;
  int middle = 0;
  for (int i = 0; i < n; ++i) {
    const double x = stream.beta(1e-4, 1e-4);
    ASSERT_TRUE(x >= 0.0 && x <= 1.0) << x;
    high += x > 0.5;
    middle += x > 0.01 && x < 0.99;
  }
  EXPECT_NEAR(high, n / 2, 4.0 * std::sqrt(n / 4));
  // P(0.01 < x < 0.99) ≈ 1e-4/2 · ∫ dx / (x(1−x)) = 1e-4 · ln 99 = 4.6e-4.
  EXPECT_NEAR(middle, 9.2, 4.0 * std::sqrt(9.2));
}

TEST(Distribution, IndexIsUniform) {
  std::uint32_t step = 40;
  for (const std::uint32_t n : {2U, 7U, 64U, 1000U}) {
    SCOPED_TRACE(n);
    Stream stream = stream_at(step++);
    std::vector<double> counts(n);
    for (std::size_t i = 0; i < sample_size; ++i) counts.at(stream.index(n)) += 1.0;
    test::expect_frequencies(counts, std::vector<double>(n, 1.0 / n));
  }
}

TEST(Distribution, IndexOfOneIsZero) {
  Stream stream = stream_at(50);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(stream.index(1), 0U);
}

TEST(Distribution, CategoricalFollowsTheWeightsAndNeverDrawsAZero) {
  const std::vector<double> weights = {0.0, 2.0, 1.0, 0.0, 4.0, 1.0, 0.0};
  Stream stream = stream_at(60);
  std::vector<double> counts(weights.size());
  for (std::size_t i = 0; i < sample_size; ++i) counts.at(stream.categorical(weights)) += 1.0;
  test::expect_frequencies(counts, {0.0, 2.0 / 8, 1.0 / 8, 0.0, 4.0 / 8, 1.0 / 8, 0.0});
}

TEST(Distribution, CategoricalOfOneWeightIsCertain) {
  Stream stream = stream_at(61);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(stream.categorical(std::vector<double>{0.0, 1e-300, 0.0}), 1U);
}

TEST(Distribution, CategoricalRefusesWeightsThatAreNoDistribution) {
  const std::vector<std::vector<double>> bad = {{},         {0.0, 0.0}, {-1.0, -2.0},   {-1.0, 3.0},
                                                {nan, 1.0}, {1.0, nan}, {infinity, 1.0}};
  for (const std::vector<double>& weights : bad) {
    EXPECT_THROW(stream_at(62).categorical(weights), Error) << testing::PrintToString(weights);
  }
}

}  // namespace
}  // namespace pits
