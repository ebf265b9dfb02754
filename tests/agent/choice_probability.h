// P(draw a is the largest) for independent draws of known densities, by quadrature.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace pits::test {

using Density = std::function<double(double)>;

// ∫ f_a Π_{b≠a} F_b over (low, high) by the midpoint rule; the distribution functions F come from the same sums, and
// dividing by the total removes what lies outside the interval.
inline std::vector<double> probability_of_largest(const std::vector<Density>& densities, double low, double high) {
  constexpr int n = 20000;
  const double width = (high - low) / n;
  std::vector<double> below(densities.size(), 0.0);  // F at the cell's left end
  std::vector<double> p(densities.size(), 0.0);
  for (int i = 0; i < n; ++i) {
    const double x = low + (i + 0.5) * width;
    std::vector<double> mass;
    for (const Density& f : densities) mass.push_back(f(x) * width);
    for (std::size_t a = 0; a < p.size(); ++a) {
      double term = mass[a];
      for (std::size_t b = 0; b < p.size(); ++b) term *= b == a ? 1.0 : below[b] + 0.5 * mass[b];
      p[a] += term;
    }
    for (std::size_t a = 0; a < p.size(); ++a) below[a] += mass[a];
  }
  double total = 0.0;
  for (const double value : p) total += value;
  for (double& value : p) value /= total;
  return p;
}

inline Density beta_density(double a, double b) {
  const double log_norm = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b);
  return [=](double x) { return std::exp(log_norm + (a - 1.0) * std::log(x) + (b - 1.0) * std::log1p(-x)); };
}

// Student's t with `degrees` of freedom, moved and scaled.
inline Density student_density(double degrees, double centre, double scale) {
  const double log_norm = std::lgamma(0.5 * (degrees + 1.0)) - std::lgamma(0.5 * degrees) -
                          0.5 * std::log(degrees * std::numbers::pi) - std::log(scale);
  return [=](double x) {
    const double z = (x - centre) / scale;
    return std::exp(log_norm - 0.5 * (degrees + 1.0) * std::log1p(z * z / degrees));
  };
}

}  // namespace pits::test
