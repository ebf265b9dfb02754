#include "pits/evaluate/intervals/confidence_sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pits {
namespace {

constexpr double rho = 1.0;
constexpr int most_terms = 10'000'000;

// ln of Σ_k x^k / (a (a+1) ... (a+k)), all terms positive; for x < a + 1.
double log_series(double a, double x) {
  double term = 1.0 / a, sum = term;
  for (int k = 1; k < most_terms; ++k) {
    term *= x / (a + k);
    sum += term;
    if (term < sum * 1e-17) break;
  }
  return std::log(sum);
}

// ln of the continued fraction of Γ(a, x) x^−a e^x, by Lentz's method; for x ≥ a + 1.
double log_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1.0 - a, c = 1.0 / tiny, d = 1.0 / b, h = d;
  for (int k = 1; k < most_terms; ++k) {
    const double factor = -k * (k - a);
    b += 2.0;
    d = factor * d + b;
    c = b + factor / c;
    d = 1.0 / (std::abs(d) < tiny ? tiny : d);
    c = std::abs(c) < tiny ? tiny : c;
    h *= d * c;
    if (std::abs(d * c - 1.0) < 1e-16) break;
  }
  return std::log(h);
}

double log_gamma(double a) {
  int sign = 0;
  return lgamma_r(a, &sign);
}

}  // namespace

double log_lower_gamma(double a, double x) {
  const double scale = a * std::log(x) - x;
  if (x < a + 1.0) return scale + log_series(a, x);
  const double whole = log_gamma(a);
  return whole + std::log1p(-std::exp(scale + log_fraction(a, x) - whole));
}

double log_wealth(double s, double v, double rho) {
  return s + v + rho * std::log(rho) - (v + rho) * std::log(s + v + rho) + log_lower_gamma(v + rho, s + v + rho) -
         log_lower_gamma(rho, rho);
}

void LowerSequence::add(double x) {
  t_ += 1.0;
  const double predicted = std::min(1.0, (0.5 + sum_) / t_);
  sum_ += x;
  v_ += (x - predicted) * (x - predicted);
}

// The wealth falls with μ, and is at most 1 where s = 0.
double LowerSequence::bound(double alpha) const {
  const double goal = std::log(1.0 / alpha);
  if (t_ == 0.0 || !(log_wealth(sum_, v_, rho) > goal)) return 0.0;
  double low = 0.0, high = sum_ / t_;
  for (int k = 0; k < 100 && high - low > 1e-15 * high; ++k) {
    const double mu = 0.5 * (low + high);
    (log_wealth(sum_ - t_ * mu, v_, rho) > goal ? low : high) = mu;
  }
  return std::min(1.0, 0.5 * (low + high));
}

void ValueSequence::add(double weight, double reward) {
  low_.add(weight * (reward - range_.low) / range_.width());
  high_.add(weight * (range_.high - reward) / range_.width());
}

Interval ValueSequence::interval(double level) const {
  const double alpha = 0.5 * (1.0 - level);
  return {range_.low + range_.width() * low_.bound(alpha), range_.high - range_.width() * high_.bound(alpha)};
}

void DifferenceSequence::add(double weight_a, double weight_b, double reward) {
  const double r = (reward - range_.low) / range_.width();
  low_.add(0.5 * (weight_a * r + weight_b * (1.0 - r)));
  high_.add(0.5 * (weight_b * r + weight_a * (1.0 - r)));
}

Interval DifferenceSequence::interval(double level) const {
  const double alpha = 0.5 * (1.0 - level);
  return {range_.width() * (2.0 * low_.bound(alpha) - 1.0), range_.width() * (1.0 - 2.0 * high_.bound(alpha))};
}

}  // namespace pits
