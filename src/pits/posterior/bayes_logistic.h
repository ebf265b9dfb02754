// Bayesian logistic regression by Laplace's approximation, one observation at a time (Chapelle & Li 2011, Algorithm 3):
// the posterior N(m, P⁻¹) so far is the prior of the next, the new m maximises
//   −½ (w − m)ᵀP(w − m) + r·z − log(1 + e^z),   z = x·w,
// and P grows by the curvature σ(z)(1 − σ(z)) x xᵀ there, or by its diagonal.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "pits/core/fields.h"
#include "pits/posterior/eigen_archive.h"

namespace pits {

struct BayesLogisticConfig {
  double lambda = 1.0;    // prior precision of the coefficients
  bool diagonal = false;  // keep the diagonal of P only: O(d) instead of O(d²) an observation
};
Fields fields(BayesLogisticConfig& config);

class BayesLogistic {
 public:
  BayesLogistic(const BayesLogisticConfig& config, Eigen::Index dimension);

  // The posterior of all these observations at once, x (d,n), rewards (n) in 0..1: m is the mode of
  // −½ λ‖w‖² + Σ r z − log(1 + e^z), and P the curvature there. Exact Newton steps with a whole P.
  BayesLogistic(const BayesLogisticConfig& config, const Eigen::MatrixXd& x, const Eigen::VectorXd& rewards);
  // The same, each observation's log likelihood times a weight (n).
  BayesLogistic(const BayesLogisticConfig& config, const Eigen::MatrixXd& x, const Eigen::VectorXd& rewards,
                const Eigen::VectorXd& weights);

  void observe(const Eigen::VectorXd& x, double reward);  // reward in 0..1
  // All observations so far weigh this factor of what they did in the Gaussian posterior; the prior stays. O(d³), or
  // O(d²) where P is diagonal.
  void discount(double factor);

  const Eigen::VectorXd& mean() const { return mean_; }
  Eigen::MatrixXd precision() const;                // P
  double variance(const Eigen::VectorXd& x) const;  // of x·w: xᵀP⁻¹x

  void state(Archive& archive) { archive.version("BayesLogistic", 1)(mean_, diagonal_, cholesky_); }

 private:
  void set_precision(const Eigen::MatrixXd& precision);
  bool is_diagonal_;
  double lambda_;
  Eigen::VectorXd mean_;      // m
  Eigen::VectorXd diagonal_;  // P where it is diagonal, else empty
  // Of P where it is not; else of an empty matrix, for Eigen leaves one without a matrix uninitialised.
  Eigen::LLT<Eigen::MatrixXd> cholesky_{Eigen::MatrixXd(0, 0)};
};

}  // namespace pits
