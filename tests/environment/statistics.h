// Sample moments and distances of laws, with the bounds that a right sampler respects.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace pits::test {

inline double mean_of(const std::vector<double>& xs) {
  double sum = 0.0;
  for (const double x : xs) sum += x;
  return sum / static_cast<double>(xs.size());
}

inline double covariance_of(const std::vector<double>& xs, const std::vector<double>& ys) {
  const double mx = mean_of(xs);
  const double my = mean_of(ys);
  double sum = 0.0;
  for (std::size_t i = 0; i < xs.size(); ++i) sum += (xs[i] - mx) * (ys[i] - my);
  return sum / static_cast<double>(xs.size());
}

// Normal draws: standard errors sd/√n of the mean and sd²√(2/n) of the variance; 4.5 of them.
inline void expect_normal_moments(const std::vector<double>& xs, double mean, double sd) {
  const auto n = static_cast<double>(xs.size());
  EXPECT_NEAR(mean_of(xs), mean, 4.5 * sd / std::sqrt(n));
  EXPECT_NEAR(covariance_of(xs, xs), sd * sd, 4.5 * sd * sd * std::sqrt(2.0 / n));
}

// Kolmogorov's distance from the uniform law on (0,1): P(D > 1.95/√n) = 2 exp(−2·1.95²) ≈ 0.001.
inline void expect_uniform(std::vector<double> xs) {
  std::ranges::sort(xs);
  const auto n = static_cast<double>(xs.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, xs[i] - rank / n, (rank + 1.0) / n - xs[i]});
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(n));
}

// A share of n trials with success probability p.
inline void expect_share(double successes, double n, double p) {
  EXPECT_NEAR(successes / n, p, 4.5 * std::sqrt(p * (1.0 - p) / n));
}

}  // namespace pits::test
