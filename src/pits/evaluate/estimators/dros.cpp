#include "pits/evaluate/estimators/dros.h"

#include <algorithm>
#include <cmath>

namespace pits {
namespace {

constexpr int candidates = 30;
constexpr double delta = 0.05;

// The same for all candidates.
struct BiasTerms {
  double slack = 0.0;     // of Bernstein's inequality
  double residual = 0.0;  // mean(w (r − q̂)²)
};

BiasTerms bias_terms(const PolicyTerms& terms) {
  double squares = 0.0, largest = 0.0, residual = 0.0, weighted = 0.0;
  for (std::size_t i = 0; i < terms.rounds(); ++i) {
    const RoundTerms t = terms[i];
    squares += t.weight * t.weight;
    largest = std::max(largest, t.weight);
    residual = std::max(residual, std::abs(t.reward - t.model_logged));
    weighted += t.weight * (t.reward - t.model_logged) * (t.reward - t.model_logged);
  }
  const double n = static_cast<double>(terms.rounds());
  const double log_term = std::log(2.0 / delta);
  return {.slack = residual * (std::sqrt(2.0 * squares / n * log_term / n) + 2.0 * largest * log_term / (3.0 * n)),
          .residual = weighted / n};
}

double squared_error(const PolicyTerms& terms, double lambda, const BiasTerms& bias) {
  const double n = static_cast<double>(terms.rounds());
  double sum = 0.0, taken_away = 0.0, apart = 0.0;
  for (std::size_t i = 0; i < terms.rounds(); ++i) {
    const RoundTerms t = terms[i];
    sum += dros(t, lambda).numerator;
    const double less = t.weight - shrunk(t.weight, lambda);
    taken_away += less * (t.reward - t.model_logged);
    if (t.weight > 0.0) apart += less * less / t.weight;
  }
  double squares = 0.0;
  for (std::size_t i = 0; i < terms.rounds(); ++i) {
    const double d = dros(terms[i], lambda).numerator - sum / n;
    squares += d * d;
  }
  const double bound = std::min(std::abs(taken_away / n) + bias.slack, std::sqrt(bias.residual * apart / n));
  return squares / n / n + bound * bound;
}

double quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

double shrinkage_of(const PolicyTerms& terms) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<double> positive;
  std::ranges::copy_if(terms.weight, std::back_inserter(positive), [](double w) { return w > 0.0; });
  if (positive.empty()) return best;
  std::ranges::sort(positive);
  const BiasTerms bias = bias_terms(terms);
  double least = squared_error(terms, best, bias);
  const double from = std::log(0.01) + 2.0 * std::log(quantile(positive, 0.05));
  const double to = std::log(100.0) + 2.0 * std::log(quantile(positive, 0.95));
  for (int k = candidates - 1; k >= 0; --k) {
    const double lambda = std::exp(from + (to - from) * k / (candidates - 1));
    const double error = squared_error(terms, lambda, bias);
    if (error < least) {
      least = error;
      best = lambda;
    }
  }
  return best;
}

}  // namespace pits
