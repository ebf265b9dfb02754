// Bayesian linear regressions of the rewards on one map of features, one for each action, and draws from them. Fitted
// in double from sums, then updated with every observation in float until the next fit: O(F²) for the covariance and
// O(F) for each draw.
//
// All in units of the noise: β_a ~ N(mean_a, σ_a² P_a). A draw δ ~ N(0, P) stays one when an observation (φ, r) comes,
// by conditioning it on a perturbed observation of its own (Matheron's rule): δ − g (φ·δ + ε)/(1 + φ·g), g = Pφ,
// ε ~ N(0, 1).
#pragma once

#include <span>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/core/random.h"
#include "pits/core/value.h"
#include "pits/posterior/bayes_linear.h"
#include "pits/posterior/coefficient_group.h"

namespace pits {

// Shape and scale of the inverse-gamma prior of a noise variance.
struct NoisePrior {
  double shape = 2.0, scale = 0.3;
};

class FeatureRegressions {
 public:
  FeatureRegressions() = default;  // nothing: memory for a fit
  // F features in groups that share a prior precision, K actions, S draws of each.
  FeatureRegressions(std::vector<CoefficientGroup> groups, std::size_t actions, std::size_t draws,
                     const NoisePrior& noise);

  // Draws from the prior.
  void start(const Address& draws);
  // Starts anew from all those observations, (K), with the precisions of `before` and fresh draws, and lets the
  // evidence choose the precisions of the next fit. Where it throws, these regressions are as they were.
  void fit(const FeatureRegressions& before, std::span<const RegressionSums> sums, const Address& draws);
  void fit(std::span<const RegressionSums> sums, const Address& draws) { fit(*this, sums, draws); }
  void observe(std::size_t action, std::span<const float> features, double reward, std::span<const float> noise);
  void add_actions(std::size_t n, const Address& address);

  std::size_t features() const { return mean_.cols(); }  // F
  std::size_t actions() const { return mean_.rows(); }   // K
  std::size_t draws() const { return draws_.rows() / mean_.rows(); }
  const Matrix<float>& mean() const { return mean_; }         // (K,F)
  const Matrix<float>& deviations() const { return draws_; }  // (S·K,F): draws of β − mean
  // (K,F): draw s of them
  ConstMatrixView<float> deviation(std::size_t s) const { return draws_.view().row_block(s * actions(), actions()); }
  double n(std::size_t action) const { return n_[action]; }            // Σ of the weights of its observations
  double misfit(std::size_t action) const { return misfit_[action]; }  // ½(yᵀy − meanᵀ P⁻¹ mean)
  double noise_variance() const;                                       // σ² of all actions together
  double noise_variance(double shared, std::size_t action) const;      // σ_a²: at least the shared one
  std::span<const CoefficientGroup> groups() const { return groups_; }
  // P (F,F); empty: the prior's, before an action's first observation
  const Matrix<float>& covariance(std::size_t action) const { return *covariance_[action]; }

  void state(Archive& archive);

 private:
  struct Evidence;
  void fit(std::size_t action, const RegressionSums& sums, const Matrix<float>& inverse, std::span<const double> mean,
           Evidence& evidence);
  void take_shape(const FeatureRegressions& other);
  void solve(const RegressionSums& sums, Matrix<double>& w, std::span<double> mean) const;
  void add_evidence(std::span<const double> mean, const Matrix<float>& p, const RegressionSums& sums, double explained,
                    Evidence& evidence) const;
  void forget(std::size_t action);  // back to the prior
  void forget_covariance(std::size_t action);
  void step_precisions(const Evidence& evidence);
  void redraw(std::size_t first, std::size_t last, const Address& address, std::span<const Matrix<float>> inverses);
  Matrix<float>& edit_covariance(std::size_t action);
  // The draws of an action, (S,F), as rows that are K·F apart.
  MatrixView<float> deviations(std::size_t action) {
    return {draws_.row(action).data(), draws(), features(), actions() * features()};
  }

  std::vector<CoefficientGroup> groups_;
  NoisePrior noise_;
  Matrix<float> mean_;                                  // (K,F)
  Matrix<float> draws_;                                 // (S·K,F): row s·K + a
  std::vector<double> n_, misfit_;                      // (K)
  std::vector<CopyOnWrite<Matrix<float>>> covariance_;  // (K) P (F,F); empty: the prior's
};

}  // namespace pits
