// The score's reference: central differences of the plain log posterior, in double.
#pragma once

#include "model/random_problem.h"

namespace pits::test {

struct Reference {
  std::vector<double> gradient;  // ∇U
  double magnitude;              // the sum of the norms of its terms, before they cancel
};

inline std::vector<double> likelihood_term(const Problem& p, std::span<const double> theta, const PlainObservation& o) {
  return central_differences([&](const auto& t) { return p.plain.log_likelihood(t, o); },
                             std::vector<double>(theta.begin(), theta.end()));
}

inline Reference reference_score(const Problem& p, std::size_t particle) {
  const std::vector<double> theta = as_double(p.theta.row(particle));
  Reference r{.gradient = central_differences([&](const auto& t) { return p.plain.log_prior(t); }, theta),
              .magnitude = 0.0};
  r.magnitude = norm(r.gradient);
  for (const PlainObservation& o : p.data) {
    const std::vector<double> term = likelihood_term(p, theta, o);
    for (std::size_t l = 0; l < term.size(); ++l) r.gradient[l] += p.scale * term[l];
    // A term is proportional to r − m, which rounds like |r| + |m| even where it vanishes: the magnitude is taken one
    // unit of reward away too.
    PlainObservation moved = o;
    moved.reward += 1.0;
    r.magnitude += p.scale * std::max(norm(term), norm(likelihood_term(p, theta, moved)));
  }
  return r;
}

// Differences of U are no gradient across the kink of a ReLU: a step of 1e-5 moves a unit by less than this.
constexpr double kink_margin = 3e-4;

inline bool away_from_kinks(const Problem& p) {
  if (p.plain.config.activation != Activation::relu) return true;
  for (std::size_t i = 0; i < p.theta.rows(); ++i) {
    if (p.plain.nearest_kink(as_double(p.theta.row(i)), p.data) < kink_margin) return false;
  }
  return true;
}

// ‖score − ∇U‖ over the magnitude, worst particle. Float rounds by 6e-8, and the longest chain of sums here has about
// d + Σ widths + B < 100 terms: 6e-6 if all roundings pointed the same way, doubled for the way back.
constexpr double float_tolerance = 1.5e-5;

inline double worst_error(const Problem& p, const Matrix<float>& score) {
  double worst = 0.0;
  for (std::size_t i = 0; i < p.theta.rows(); ++i) {
    const Reference reference = reference_score(p, i);
    std::vector<double> error = as_double(score.row(i));
    for (std::size_t l = 0; l < error.size(); ++l) error[l] -= reference.gradient[l];
    worst = std::max(worst, norm(error) / reference.magnitude);
  }
  return worst;
}

}  // namespace pits::test
