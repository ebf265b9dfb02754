// Doubly robust with optimistic shrinkage (Su, Dimakopoulou, Krishnamurthy and Dudík 2020): DR with the weights
//   ŵ = λ w / (λ + w²)
// λ = 0 is the direct method, λ = ∞ is DR. Large weights shrink: less variance for some bias.
#pragma once

#include <limits>

#include "pits/evaluate/estimators/terms.h"

namespace pits {

inline double shrunk(double w, double lambda) {
  if (lambda == std::numeric_limits<double>::infinity()) return w;
  return w == 0.0 ? 0.0 : lambda * w / (lambda + w * w);
}

inline Ratio dros(const RoundTerms& t, double lambda) {
  return {t.model_value + shrunk(t.weight, lambda) * (t.reward - t.model_logged), 1.0};
}

// λ is chosen as in the same paper, by an estimate of the squared error: the candidate of least V̂ar(λ)/n + B(λ)², where
// B bounds the bias. B is the smaller of two bounds; their constants and the candidates are ours: the direct estimate
// with Bernstein's inequality (probability 1 − δ, δ = 0.05, residuals |r − q̂| ≤ R),
//   |mean((w − ŵ)(r − q̂))| + R √(2 mean(w²) ln(2/δ) / n) + 2 R w_max ln(2/δ) / (3n)
// and that by Cauchy-Schwarz, which is 0 at λ = ∞:   √( mean(w (r − q̂)²) · mean((w − ŵ)² / w) )
// Candidates: 30 numbers spaced evenly in the logarithm from 0.01 q₀.₀₅² to 100 q₀.₉₅², q the quantiles of the weights
// above 0, and ∞. R is the largest residual of the log.
double shrinkage_of(const PolicyTerms& terms);

}  // namespace pits
