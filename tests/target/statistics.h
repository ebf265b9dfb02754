// What the tests of exact samplers need: distances between a sample and a distribution, with bounds from the
// distribution of the statistic. Seeds are fixed, so that a passing test passes always.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace pits {

inline double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// Kolmogorov's √n sup|F_n − F|.
template <class Cdf>
double kolmogorov(std::vector<double> xs, Cdf cdf) {
  std::ranges::sort(xs);
  const auto n = static_cast<double>(xs.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const double f = cdf(xs[i]);
    largest = std::max({largest, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  return std::sqrt(n) * largest;
}
// Exceeded with probability 2 exp(−2·2.2²) ≈ 1.3e-4 by a sample of the distribution.
constexpr double kolmogorov_bound = 2.2;

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

inline Moments moments(const std::vector<double>& xs) {
  Moments m;
  const auto n = static_cast<double>(xs.size());
  for (const double x : xs) m.mean += x / n;
  for (const double x : xs) m.variance += (x - m.mean) * (x - m.mean) / (n - 1.0);
  return m;
}

inline double standard_error(const std::vector<double>& xs) {
  return std::sqrt(moments(xs).variance / static_cast<double>(xs.size()));
}

}  // namespace pits
