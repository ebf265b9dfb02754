// Bayesian linear regression, exact: y = x·β + ε, ε ~ N(0, σ²), with the normal-inverse-gamma prior
//   σ² ~ InvGamma(a0, b0),   β | σ² ~ N(0, σ² (λI)⁻¹).
// Rank-one updates: O(d²) per observation, in double, without allocations.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

#include "pits/core/fields.h"
#include "pits/core/random.h"
#include "pits/posterior/eigen_archive.h"
#include "pits/posterior/value_law.h"

namespace pits {

struct BayesLinearConfig {
  double lambda = 0.25;  // prior precision of β in units of the noise
  double a0 = 6.0;
  double b0 = 6.0;
};
Fields fields(BayesLinearConfig& config);

// What the posterior needs to know of n observations.
struct RegressionSums {
  Eigen::MatrixXd xx;  // XᵀX, lower triangle
  Eigen::VectorXd xy;  // Xᵀy
  double yy = 0.0;     // yᵀy
  double n = 0.0;      // Σ of the weights

  explicit RegressionSums(Eigen::Index dimension);
  void clear();
};

// (x, 1): the intercept is one more coefficient.
void with_intercept(std::span<const float> x, Eigen::VectorXd& out);
Eigen::VectorXd with_intercept(std::span<const float> x);

class BayesLinear {
 public:
  BayesLinear(const BayesLinearConfig& config, Eigen::Index dimension);
  // The posterior of all those observations: one factorisation.
  BayesLinear(const BayesLinearConfig& config, const RegressionSums& sums);

  void observe(const Eigen::Ref<const Eigen::VectorXd>& x, double y);
  // Forgets what it knew and starts from all those observations: one factorisation.
  void fit(const BayesLinearConfig& config, const RegressionSums& sums);
  // The same where each coefficient has a prior precision of its own, (d); config.lambda is not used.
  void fit(const BayesLinearConfig& config, const Eigen::VectorXd& prior_precision, const RegressionSums& sums);
  // Multiplies the weight of all observations so far by `factor`; the prior stays. O(d³).
  void discount(double factor);

  // Lᵀ⁻¹ z, (d): for z ~ N(0, I) a draw of β − mean in units of the noise.
  void deviation(const Eigen::Ref<const Eigen::VectorXd>& z, Eigen::VectorXd& out) const;

  // σ² ~ InvGamma(a, b), then β ~ N(mean, σ² precision⁻¹), (d).
  void sample(Stream& stream, Eigen::VectorXd& beta) const;
  Eigen::VectorXd sample(Stream& stream) const;

  // Of x·β for such a draw: Student, since the noise variance is drawn too.
  ValueLaw law(const Eigen::Ref<const Eigen::VectorXd>& x) const;
  // xᵀ precision⁻¹ x: the variance of x·β in units of the noise's.
  double leverage(const Eigen::Ref<const Eigen::VectorXd>& x) const;

  const Eigen::VectorXd& mean() const { return mean_; }
  const Eigen::MatrixXd& precision() const { return precision_; }  // XᵀX + prior
  double a() const { return a_; }
  double b() const { return b_; }
  double n() const { return 2.0 * (a_ - prior_.a0); }  // Σ of the weights of the observations
  double misfit() const { return b_ - prior_.b0; }     // ½(yᵀy − meanᵀ precision mean)

  void state(Archive& archive) {
    archive.version("BayesLinear", 1);
    if (archive.policy()) {
      archive(lower_, mean_, a_, b_);
    } else {
      archive(prior_precision_, precision_, lower_, moment_, mean_, a_, b_, updates_);
    }
  }

 private:
  auto lower() const { return lower_.triangularView<Eigen::Lower>(); }              // L
  auto upper() const { return lower_.transpose().triangularView<Eigen::Upper>(); }  // Lᵀ
  void refactor();
  void solve_mean();

  BayesLinearConfig prior_;
  Eigen::VectorXd prior_precision_;  // (d)
  Eigen::MatrixXd precision_;
  Eigen::MatrixXd lower_;   // L with L Lᵀ = precision; its upper triangle means nothing
  Eigen::VectorXd moment_;  // Xᵀy
  Eigen::VectorXd mean_;
  Eigen::VectorXd work_;  // (d) scratch of observe()
  double a_ = 0.0;
  double b_ = 0.0;
  std::uint64_t updates_ = 0;
};

}  // namespace pits
