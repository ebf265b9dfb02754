// Each target's exact sampler against its closed form; the logistic posterior against a Metropolis chain.
#include <gtest/gtest.h>

#include <numbers>
#include <string>

#include "pits/core/error.h"
#include "pits/target/banana.h"
#include "pits/target/funnel.h"
#include "pits/target/gaussian.h"
#include "pits/target/logistic.h"
#include "pits/target/ring.h"
#include "target/statistics.h"

namespace pits {
namespace {

constexpr std::size_t draws = 20000;

// f(x, y) at every draw.
template <class F>
std::vector<double> mapped(const Matrix<double>& theta, F f) {
  std::vector<double> out;
  for (std::size_t i = 0; i < theta.rows(); ++i) out.push_back(f(theta(i, 0), theta(i, 1)));
  return out;
}

// Two columns of independent standard normals.
void expect_standard_normals(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_LT(kolmogorov(a, normal_cdf), kolmogorov_bound);
  EXPECT_LT(kolmogorov(b, normal_cdf), kolmogorov_bound);
  std::vector<double> product;
  for (std::size_t i = 0; i < a.size(); ++i) product.push_back(a[i] * b[i]);
  EXPECT_NEAR(moments(product).mean, 0.0, 4.0 * standard_error(product));
}

TEST(ExactSampler, GaussianWhitensToStandardNormals) {
  const Matrix<double> theta = exact_cloud(*make_gaussian(), draws, 11, 0);
  const double rest = std::sqrt(0.5 - 0.4 * 0.4);  // sd of y given x: covariance 0.4, variances 1.0 and 0.5
  expect_standard_normals(mapped(theta, [](double x, double) { return x; }),
                          mapped(theta, [&](double x, double y) { return (y - 0.4 * x) / rest; }));
}

TEST(ExactSampler, MixtureHasTheMarginalsOfItsComponents) {
  const auto target = make_mixture();
  const auto& mixture = dynamic_cast<const GaussianMixture&>(*target);
  const Matrix<double> theta = exact_cloud(mixture, draws, 12, 0);
  for (std::size_t j = 0; j < 2; ++j) {
    const auto cdf = [&](double x) {
      double p = 0.0;
      for (const GaussianComponent& c : mixture.components()) {
        p += c.weight * normal_cdf((x - c.mean[j]) / std::sqrt(c.variance[j]));
      }
      return p;
    };
    EXPECT_LT(kolmogorov(mapped(theta, [&](double x, double y) { return j == 0 ? x : y; }), cdf), kolmogorov_bound);
  }
}

TEST(ExactSampler, BananaStraightensToStandardNormals) {
  const BananaParameters p;
  const Matrix<double> theta = exact_cloud(Banana(p), draws, 13, 0);
  expect_standard_normals(
      mapped(theta, [&](double x, double) { return x / p.length; }),
      mapped(theta, [&](double x, double y) { return (y - p.bend * (x * x - p.length * p.length)) / p.width; }));
}

TEST(ExactSampler, FunnelUnrollsToStandardNormals) {
  const double scale = 1.7;
  const Matrix<double> theta = exact_cloud(Funnel(scale), draws, 14, 0);
  expect_standard_normals(mapped(theta, [](double x, double v) { return x * std::exp(-0.5 * v); }),
                          mapped(theta, [&](double, double v) { return v / scale; }));
}

// ∫₀^r t exp(−(t−R)²/2s²) dt = s²(e^{−R²/2s²} − e^{−(r−R)²/2s²}) + R s √2π (Φ((r−R)/s) − Φ(−R/s))
double ring_mass(double r, const RingParameters& p) {
  const double z = (r - p.radius) / p.width;
  const double z0 = -p.radius / p.width;
  return p.width * p.width * (std::exp(-0.5 * z0 * z0) - std::exp(-0.5 * z * z)) +
         p.radius * p.width * std::sqrt(2.0 * std::numbers::pi) * (normal_cdf(z) - normal_cdf(z0));
}

TEST(ExactSampler, RingHasTheRightRadiusAndAnEvenAngle) {
  // A wide ring as well: there the rejection step decides, and radii near 0 occur.
  for (const RingParameters& p : {RingParameters{}, RingParameters{.radius = 1.0, .width = 1.0}}) {
    const Matrix<double> theta = exact_cloud(Ring(p), draws, 15, 0);
    const double all = ring_mass(p.radius + 40.0 * p.width, p);
    EXPECT_LT(kolmogorov(mapped(theta, [](double x, double y) { return std::hypot(x, y); }),
                         [&](double r) { return ring_mass(r, p) / all; }),
              kolmogorov_bound);
    EXPECT_LT(kolmogorov(mapped(theta, [](double x, double y) { return std::atan2(y, x); }),
                         [](double a) { return 0.5 + 0.5 * a / std::numbers::pi; }),
              kolmogorov_bound);
  }
}

TEST(ExactSampler, RingScoreIsZeroAtItsCentre) {
  const double centre[2] = {0.0, 0.0};
  double score[2] = {1.0, 1.0};
  Ring().score(centre, score);
  EXPECT_EQ(score[0], 0.0);
  EXPECT_EQ(score[1], 0.0);
}

// The figures of docs/sampling.md belong to these data: five points and all labels, as first drawn.
TEST(ExactSampler, LogisticDataAreFixed) {
  struct Point {
    std::size_t i;
    double x[2];
  };
  const Point points[] = {{0, {-0.190083255200147, -0.366730912607638}},
                          {1, {-0.409153040918286, 0.103483846748853}},
                          {2, {0.747104637815822, 0.261026528704067}},
                          {19, {0.419498887846827, 1.02542263723987}},
                          {39, {0.143545443385001, 0.972042742563706}}};
  const LogisticData data = logistic_example();
  ASSERT_EQ(data.y.size(), 40U);
  for (const Point& p : points) {
    for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(data.x(p.i, j), p.x[j], 1e-13) << "point " << p.i;
  }
  std::string labels;
  for (const double y : data.y) labels += y == 1.0 ? '+' : y == -1.0 ? '-' : '?';
  EXPECT_EQ(labels, "+-++--+-++-+--+--+-++---+---++----++----");
}

TEST(ExactSampler, LogisticGridLeavesNoMassOutside) {
  const auto target = make_logistic();
  constexpr std::size_t n = 480;
  const Window wide{-8.0, 16.0, -16.0, 8.0};
  const DensityGrid grid = density_grid(*target, wide, n, n);
  double inside = 0.0, all = 0.0;
  for (std::size_t y = 0; y < n; ++y) {
    for (std::size_t x = 0; x < n; ++x) {
      const double tx = -8.0 + 24.0 * (static_cast<double>(x) + 0.5) / n;
      const double ty = -16.0 + 24.0 * (static_cast<double>(y) + 0.5) / n;
      all += grid.value(y, x);
      if (tx > -1.5 && tx < 8.5 && ty > -7.5 && ty < 2.0) inside += grid.value(y, x);
    }
  }
  EXPECT_LT(1.0 - inside / all, 1e-10);
}

// A plain random-walk Metropolis chain, in batches whose means give its standard error.
struct Chain {
  std::vector<double> batch_mean[2];
  std::vector<double> batch_square[2];
};

Chain metropolis(const Target& target, int batches, int length) {
  Stream stream({.seed = 99});
  double theta[2] = {2.0, -1.4};
  double log_p = target.log_density(theta);
  Chain chain;
  for (int b = 0; b < batches; ++b) {
    double sum[2] = {}, square[2] = {};
    for (int t = 0; t < length; ++t) {
      const double proposal[2] = {theta[0] + 0.9 * stream.normal(), theta[1] + 0.9 * stream.normal()};
      const double proposed = target.log_density(proposal);
      if (std::log(stream.uniform()) < proposed - log_p) {
        std::ranges::copy(proposal, theta);
        log_p = proposed;
      }
      for (int j = 0; j < 2; ++j) {
        sum[j] += theta[j] / length;
        square[j] += theta[j] * theta[j] / length;
      }
    }
    for (int j = 0; j < 2; ++j) {
      chain.batch_mean[j].push_back(sum[j]);
      chain.batch_square[j].push_back(square[j]);
    }
  }
  return chain;
}

TEST(ExactSampler, LogisticQuadratureAgreesWithAMetropolisChain) {
  const auto target = make_logistic();
  const Matrix<double> theta = exact_cloud(*target, 40000, 16, 0);
  const Chain chain = metropolis(*target, 100, 3000);
  for (std::size_t j = 0; j < 2; ++j) {
    const auto xs = mapped(theta, [&](double x, double y) { return j == 0 ? x : y; });
    const auto squares = mapped(theta, [&](double x, double y) { return j == 0 ? x * x : y * y; });
    EXPECT_NEAR(moments(xs).mean, moments(chain.batch_mean[j]).mean,
                4.0 * std::hypot(standard_error(xs), standard_error(chain.batch_mean[j])));
    EXPECT_NEAR(moments(squares).mean, moments(chain.batch_square[j]).mean,
                4.0 * std::hypot(standard_error(squares), standard_error(chain.batch_square[j])));
  }
}

TEST(GaussianMixture, RejectsWhatIsNoDensity) {
  const Window w{-1, 1, -1, 1};
  EXPECT_THROW(GaussianMixture({}, w), Error);
  EXPECT_THROW(GaussianMixture({{.weight = 0.0, .mean = {}, .variance = {1, 1}, .covariance = 0}}, w), Error);
  EXPECT_THROW(GaussianMixture({{.weight = 1.0, .mean = {}, .variance = {1, 1}, .covariance = 1.0}}, w), Error);
  EXPECT_THROW(GaussianMixture({{.weight = 1.0, .mean = {}, .variance = {-1, -1}, .covariance = 0}}, w), Error);
}

}  // namespace
}  // namespace pits
