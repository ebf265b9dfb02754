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

// −½ λ‖w‖² + Σ weight · (r z − log(1 + e^z)) at z = xᵀw, without overflow.
double log_posterior(double lambda, const Eigen::VectorXd& w, const Eigen::VectorXd& z, const Eigen::VectorXd& r,
                     const Eigen::VectorXd& weights) {
  double sum = -0.5 * lambda * w.squaredNorm();
  for (Eigen::Index i = 0; i < z.size(); ++i) {
    sum += weights[i] * (r[i] * z[i] - std::max(z[i], 0.0) - std::log1p(std::exp(-std::abs(z[i]))));
  }
  return sum;
}

Eigen::MatrixXd curvature_at(double lambda, const Eigen::MatrixXd& x, const Eigen::VectorXd& p,
                             const Eigen::VectorXd& weights) {
  const Eigen::VectorXd curvature = weights.array() * p.array() * (1.0 - p.array());
  Eigen::MatrixXd P = x * curvature.asDiagonal() * x.transpose();
  P.diagonal().array() += lambda;
  return P;
}

}  // namespace

Fields fields(BayesLogisticConfig& c) {
  return Fields{}
      .add("lambda", c.lambda, "prior precision of the coefficients", above(0))
      .add("diagonal", c.diagonal, "keep the diagonal of the precision only, as Chapelle and Li do");
}

BayesLogistic::BayesLogistic(const BayesLogisticConfig& config, Eigen::Index dimension)
    : is_diagonal_(config.diagonal), lambda_(checked(config).lambda), mean_(Eigen::VectorXd::Zero(dimension)) {
  if (is_diagonal_) {
    diagonal_ = Eigen::VectorXd::Constant(dimension, lambda_);
  } else {
    cholesky_.compute(lambda_ * Eigen::MatrixXd::Identity(dimension, dimension));
  }
}

BayesLogistic::BayesLogistic(const BayesLogisticConfig& config, const Eigen::MatrixXd& x,
                             const Eigen::VectorXd& rewards)
    : BayesLogistic(config, x, rewards, Eigen::VectorXd::Ones(rewards.size())) {}

// The log posterior is concave: Newton's steps, halved until they climb, end at its one maximum.
BayesLogistic::BayesLogistic(const BayesLogisticConfig& config, const Eigen::MatrixXd& x,
                             const Eigen::VectorXd& rewards, const Eigen::VectorXd& weights)
    : BayesLogistic(config, x.rows()) {
  if (x.cols() != rewards.size() || !x.allFinite() || !((rewards.array() >= 0.0) && (rewards.array() <= 1.0)).all()) {
    throw bad_input("bayes_logistic: {} rewards in 0..1 and as many finite contexts are needed", x.cols());
  }
  const auto value = [&](const Eigen::VectorXd& w) {
    return log_posterior(config.lambda, w, x.transpose() * w, rewards, weights);
  };
  double best = value(mean_);
  for (int i = 0; i < 100; ++i) {
    const Eigen::VectorXd p = (x.transpose() * mean_).unaryExpr(&sigmoid);
    const Eigen::VectorXd gradient = x * weights.cwiseProduct(rewards - p) - config.lambda * mean_;
    Eigen::VectorXd step = curvature_at(config.lambda, x, p, weights).llt().solve(gradient);
    double next = value(mean_ + step);
    for (int halvings = 0; next < best && halvings < 50; ++halvings) next = value(mean_ + (step *= 0.5));
    if (next < best) break;  // rounding decides
    mean_ += step;
    best = next;
    if (step.norm() <= 1e-12 * (1.0 + mean_.norm())) break;
  }
  set_precision(curvature_at(config.lambda, x, (x.transpose() * mean_).unaryExpr(&sigmoid), weights));
}

void BayesLogistic::set_precision(const Eigen::MatrixXd& precision) {
  if (is_diagonal_) {
    diagonal_ = precision.diagonal();
  } else {
    cholesky_.compute(precision);
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

// What the observations said, N(m, P⁻¹) over the prior N(0, λ⁻¹I), is a Gaussian of precision P − λI and moment Pm.
void BayesLogistic::discount(double factor) {
  const Eigen::VectorXd moment = factor * (precision() * mean_);
  Eigen::MatrixXd P = factor * precision();
  P.diagonal().array() += (1.0 - factor) * lambda_;
  set_precision(P);
  mean_ = is_diagonal_ ? Eigen::VectorXd(moment.cwiseQuotient(diagonal_)) : Eigen::VectorXd(cholesky_.solve(moment));
}

Eigen::MatrixXd BayesLogistic::precision() const {
  return is_diagonal_ ? Eigen::MatrixXd(diagonal_.asDiagonal()) : cholesky_.reconstructedMatrix();
}

double BayesLogistic::variance(const Eigen::VectorXd& x) const {
  return is_diagonal_ ? x.cwiseAbs2().cwiseQuotient(diagonal_).sum() : cholesky_.matrixL().solve(x).squaredNorm();
}

}  // namespace pits
