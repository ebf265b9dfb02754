#include "pits/posterior/bayes_linear.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pits {
namespace {

// A fresh factorisation now and then keeps the rounding of rank-one updates from adding up; amortised it is O(d²).
constexpr std::uint64_t refresh_every = 1024;

// Whether solving with L Lᵀ leaves any digits: the ratio of L's extreme diagonal entries bounds the condition number
// from below. NaN and infinity fail the comparison too.
bool usable(const Eigen::LLT<Eigen::MatrixXd>& cholesky) {
  const Eigen::VectorXd diagonal = cholesky.matrixLLT().diagonal();
  const double ratio = diagonal.minCoeff() / diagonal.maxCoeff();
  return cholesky.info() == Eigen::Success && ratio * ratio > std::numeric_limits<double>::epsilon();
}

}  // namespace

Fields fields(BayesLinearConfig& c) {
  return Fields{}
      .add("lambda", c.lambda, "prior precision of the coefficients, in units of the noise", above(0))
      .add("a0", c.a0, "shape of the inverse-gamma prior of the noise variance", above(0))
      .add("b0", c.b0, "its scale", above(0));
}

RegressionSums::RegressionSums(Eigen::Index dimension)
    : xx(Eigen::MatrixXd::Zero(dimension, dimension)), xy(Eigen::VectorXd::Zero(dimension)) {}

void RegressionSums::add(const Eigen::MatrixXd& x, const Eigen::VectorXd& y) {
  xx.selfadjointView<Eigen::Lower>().rankUpdate(x);
  xy += x * y;
  yy += y.squaredNorm();
  n += static_cast<double>(y.size());
}

void RegressionSums::add(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, const Eigen::VectorXd& weights) {
  const Eigen::VectorXd root = weights.cwiseSqrt();
  xx.selfadjointView<Eigen::Lower>().rankUpdate(x * root.asDiagonal());
  xy += x * weights.cwiseProduct(y);
  yy += weights.dot(y.cwiseAbs2());
  n += weights.sum();
}

BayesLinear::BayesLinear(const BayesLinearConfig& config, Eigen::Index dimension)
    : BayesLinear(config, RegressionSums(dimension)) {}

BayesLinear::BayesLinear(const BayesLinearConfig& config, const RegressionSums& sums)
    : prior_(checked(config)),
      precision_(sums.xx.selfadjointView<Eigen::Lower>()),
      moment_(sums.xy),
      a_(config.a0 + 0.5 * sums.n),
      b_(config.b0),
      updates_(static_cast<std::uint64_t>(sums.n)) {
  precision_.diagonal().array() += config.lambda;
  refactor();
  mean_ = cholesky_.solve(moment_);
  // ½(yᵀy − meanᵀ precision mean) is at least 0; rounding may say otherwise where the data are explained perfectly.
  b_ += std::max(0.0, 0.5 * (sums.yy - mean_.dot(moment_)));
}

// b grows by half the squared residual against the old mean over the predictive variance: the same as
// b0 + ½(yᵀy − meanᵀ precision mean), without its cancellation.
void BayesLinear::observe(const Eigen::VectorXd& x, double y) {
  if (x.size() != mean_.size()) throw bad_input("bayes_linear: x must have {} numbers, not {}", mean_.size(), x.size());
  if (!x.allFinite() || !std::isfinite(y)) throw bad_input("bayes_linear: the observation is not finite");
  const double residual = y - x.dot(mean_);
  const double predictive = 1.0 + leverage(x);
  a_ += 0.5;
  b_ += 0.5 * residual * residual / predictive;
  precision_.selfadjointView<Eigen::Lower>().rankUpdate(x);
  precision_.triangularView<Eigen::StrictlyUpper>() = precision_.transpose();
  moment_ += y * x;
  cholesky_.rankUpdate(x, 1.0);
  if (++updates_ % refresh_every == 0 || !usable(cholesky_)) refactor();
  mean_ = cholesky_.solve(moment_);
}

// b = b0 + ½(yᵀy − meanᵀ moment) gives yᵀy back.
void BayesLinear::discount(double factor) {
  const double yy = 2.0 * (b_ - prior_.b0) + mean_.dot(moment_);
  precision_.diagonal().array() -= prior_.lambda;
  precision_ *= factor;
  precision_.diagonal().array() += prior_.lambda;
  moment_ *= factor;
  a_ = prior_.a0 + factor * (a_ - prior_.a0);
  refactor();
  mean_ = cholesky_.solve(moment_);
  b_ = prior_.b0 + std::max(0.0, 0.5 * (factor * yy - mean_.dot(moment_)));
}

void BayesLinear::refactor() {
  cholesky_.compute(precision_);
  if (usable(cholesky_)) return;
  throw failed(
      "bayes_linear: the precision matrix of {} observations is singular to working precision; raise lambda or "
      "standardise the contexts",
      updates_);
}

Eigen::VectorXd BayesLinear::sample(Stream& stream) const {
  const double variance = b_ / stream.gamma(a_);
  Eigen::VectorXd z(mean_.size());
  for (double& value : z) value = stream.normal();
  cholesky_.matrixU().solveInPlace(z);  // precision = L Lᵀ, so Lᵀ⁻¹ z has covariance precision⁻¹
  return mean_ + std::sqrt(variance) * z;
}

}  // namespace pits
