// Empirical Bayes for regressions that share a prior: y_a = x·β_a + ε for each action a, ε ~ N(0, σ²), and the
// coefficients of group g ~ N(0, σ²/λ_g). The precisions λ_g and the noise σ² are those of the largest evidence
// p(y | λ, σ²), weighed by what is believed of them beforehand.
#pragma once

#include <span>
#include <vector>

#include "pits/posterior/bayes_linear.h"

namespace pits {

// Consecutive coefficients with a common prior precision, in units of the noise.
struct CoefficientGroup {
  Eigen::Index first, count;
  double precision;       // λ, changed by evidence_step
  double expected = 1.0;  // where it stays without data, as if `weight` coefficients had been seen that say so
  double weight = 2.0;
  double low = 0.0, high = 0.0;  // it stays within

  void state(Archive& archive) { archive(precision); }
};

// The prior precision of every coefficient, out (d).
void prior_precision(std::span<const CoefficientGroup> groups, Eigen::VectorXd& out);

// One step of MacKay's fixed point (1992, "Bayesian interpolation"): with the posterior at the present precisions,
//   γ_g = Σ_a (count_g − λ_g tr Σ_a,gg)                        coefficients that the data determine
//   σ²  = (2 b0 + Σ_a |y_a − X_a mean_a|²)/(2 a0 + n − Σ_g γ_g)
//   λ_g = σ² (γ_g + w)/(Σ_a |mean_a,g|² + w σ²/expected)
// Regressions without observations say nothing. Returns σ².
double evidence_step(std::span<const RegressionSums> sums, const BayesLinearConfig& noise,
                     std::span<CoefficientGroup> groups);

}  // namespace pits
