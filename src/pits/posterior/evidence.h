// Empirical Bayes for regressions that share a prior: y_a = x·β_a + ε for each action a, ε ~ N(0, σ²), and the
// coefficients of group g ~ N(0, σ²/λ_g). The precisions λ_g and the noise σ² are those of the largest evidence
// p(y | λ, σ²), weighed by what is believed of them beforehand.
#pragma once

#include <span>
#include <vector>

#include "pits/posterior/bayes_linear.h"
#include "pits/posterior/coefficient_group.h"

namespace pits {

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
