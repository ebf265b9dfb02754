#include "pits/posterior/bayes_logistic.h"

#include <cmath>

namespace pits {
namespace {

double sigmoid(double z) { return 1.0 / (1.0 + std::exp(-z)); }

// The root of s = r − σ(z + v s), v ≥ 0: the left side minus the right rises, and the root lies in [r − 1, r]. Newton,
// with bisection where it leaves the bracket.
double step_along(double z, double v, double r) {
  double low = r - 1.0;
  double high = r;
  double s = r - sigmoid(z);
  for (int i = 0; i < 200 && low < high; ++i) {
    const double p = sigmoid(z + v * s);
    const double excess = s - (r - p);
    (excess > 0.0 ? high : low) = s;
    if (excess == 0.0) break;
    double next = s - excess / (1.0 + v * p * (1.0 - p));
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - s) <= 1e-16) break;
    s = next;
  }
  return s;
}

}  // namespace

Fields fields(BayesLogisticConfig& c) {
  return Fields{}
      .add("lambda", c.lambda, "prior precision of the coefficients", above(0))
      .add("diagonal", c.diagonal, "keep the diagonal of the precision only, as Chapelle and Li do");
}

BayesLogistic::BayesLogistic(const BayesLogisticConfig& config, Eigen::Index dimension)
    : is_diagonal_(config.diagonal), mean_(Eigen::VectorXd::Zero(dimension)) {
  const double lambda = checked(config).lambda;
  if (is_diagonal_) {
    diagonal_ = Eigen::VectorXd::Constant(dimension, lambda);
  } else {
    cholesky_.compute(lambda * Eigen::MatrixXd::Identity(dimension, dimension));
  }
}

// The gradient is zero where w − m = (r − σ(x·w)) P⁻¹x: one number s along P⁻¹x decides.
void BayesLogistic::observe(const Eigen::VectorXd& x, double reward) {
  if (x.size() != mean_.size()) {
    throw bad_input("bayes_logistic: x must have {} numbers, not {}", mean_.size(), x.size());
  }
  if (!x.allFinite()) throw bad_input("bayes_logistic: the observation is not finite");
  if (!(reward >= 0.0 && reward <= 1.0)) throw bad_input("bayes_logistic: a reward must be in 0..1, not {}", reward);
  const Eigen::VectorXd direction =
      is_diagonal_ ? Eigen::VectorXd(x.cwiseQuotient(diagonal_)) : Eigen::VectorXd(cholesky_.solve(x));
  mean_ += step_along(x.dot(mean_), x.dot(direction), reward) * direction;
  const double p = sigmoid(x.dot(mean_));
  const double curvature = p * (1.0 - p);
  if (is_diagonal_) {
    diagonal_ += curvature * x.cwiseAbs2();
  } else {
    cholesky_.rankUpdate(x, curvature);
  }
}

Eigen::MatrixXd BayesLogistic::precision() const {
  return is_diagonal_ ? Eigen::MatrixXd(diagonal_.asDiagonal()) : cholesky_.reconstructedMatrix();
}

double BayesLogistic::variance(const Eigen::VectorXd& x) const {
  return is_diagonal_ ? x.cwiseAbs2().cwiseQuotient(diagonal_).sum() : cholesky_.matrixL().solve(x).squaredNorm();
}

}  // namespace pits
