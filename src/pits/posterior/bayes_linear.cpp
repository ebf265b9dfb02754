#include "pits/posterior/bayes_linear.h"

#include <Eigen/Cholesky>
#include <Eigen/Jacobi>
#include <algorithm>
#include <cmath>
#include <limits>

namespace pits {
namespace {

// A fresh factorisation now and then keeps the rounding of rank-one updates from adding up; amortised it is O(d²).
constexpr std::uint64_t refresh_every = 1024;

// Whether solving with L Lᵀ leaves any digits: the ratio of L's extreme diagonal entries bounds the condition number
// from below. NaN and infinity fail the comparisons too.
bool usable(const Eigen::MatrixXd& lower) {
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const double entry : lower.diagonal()) {
    if (!(entry > 0.0)) return false;
    least = std::min(least, entry);
    most = std::max(most, entry);
  }
  const double ratio = least / most;
  return ratio * ratio > std::numeric_limits<double>::epsilon();
}

// L Lᵀ + w wᵀ = L′ L′ᵀ by Givens rotations, in place; uses w up. As in Eigen's LLT::rankUpdate, which allocates.
void add_rank_one(Eigen::MatrixXd& lower, Eigen::VectorXd& w) {
  const Eigen::Index d = lower.rows();
  for (Eigen::Index i = 0; i < d; ++i) {
    Eigen::JacobiRotation<double> rotation;
    rotation.makeGivens(lower(i, i), -w[i], &lower(i, i));
    const double c = rotation.c(), s = rotation.s();
    double* __restrict column = lower.col(i).data();
    double* __restrict rest = w.data();
    for (Eigen::Index j = i + 1; j < d; ++j) {
      const double l = column[j], v = rest[j];
      column[j] = c * l + s * v;
      rest[j] = c * v - s * l;
    }
  }
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

void RegressionSums::clear() {
  xx.setZero();
  xy.setZero();
  yy = 0.0;
  n = 0.0;
}

void with_intercept(std::span<const float> x, Eigen::VectorXd& out) {
  out.resize(static_cast<Eigen::Index>(x.size()) + 1);
  std::ranges::copy(x, out.begin());
  out[out.size() - 1] = 1.0;
}

Eigen::VectorXd with_intercept(std::span<const float> x) {
  Eigen::VectorXd row;
  with_intercept(x, row);
  return row;
}

BayesLinear::BayesLinear(const BayesLinearConfig& config, Eigen::Index dimension)
    : BayesLinear(config, RegressionSums(dimension)) {}

BayesLinear::BayesLinear(const BayesLinearConfig& config, const RegressionSums& sums) { fit(checked(config), sums); }

void BayesLinear::fit(const BayesLinearConfig& config, const RegressionSums& sums) {
  thread_local Eigen::VectorXd prior;
  prior.setConstant(sums.xy.size(), config.lambda);
  fit(config, prior, sums);
}

void BayesLinear::fit(const BayesLinearConfig& config, const Eigen::VectorXd& prior_precision,
                      const RegressionSums& sums) {
  prior_ = config;
  prior_precision_ = prior_precision;
  precision_ = sums.xx.selfadjointView<Eigen::Lower>();
  precision_.diagonal() += prior_precision_;
  moment_ = sums.xy;
  work_.resize(moment_.size());
  updates_ = static_cast<std::uint64_t>(sums.n);
  refactor();
  solve_mean();
  a_ = config.a0 + 0.5 * sums.n;
  // ½(yᵀy − meanᵀ precision mean) is at least 0; rounding may say otherwise where the data are explained perfectly.
  b_ = config.b0 + std::max(0.0, 0.5 * (sums.yy - mean_.dot(moment_)));
}

// b grows by half the squared residual against the old mean over the predictive variance: the same as
// b0 + ½(yᵀy − meanᵀ precision mean), without its cancellation.
void BayesLinear::observe(const Eigen::Ref<const Eigen::VectorXd>& x, double y) {
  if (x.size() != mean_.size()) throw bad_input("bayes_linear: x must have {} numbers, not {}", mean_.size(), x.size());
  if (!x.allFinite() || !std::isfinite(y)) throw bad_input("bayes_linear: the observation is not finite");
  const double residual = y - x.dot(mean_);
  work_ = x;
  lower().solveInPlace(work_);
  const double predictive = 1.0 + work_.squaredNorm();
  a_ += 0.5;
  b_ += 0.5 * residual * residual / predictive;
  precision_.noalias() += x * x.transpose();
  moment_ += y * x;
  work_ = x;
  add_rank_one(lower_, work_);
  if (++updates_ % refresh_every == 0 || !usable(lower_)) refactor();
  solve_mean();
}

// b = b0 + ½(yᵀy − meanᵀ moment) gives yᵀy back.
void BayesLinear::discount(double factor) {
  const double yy = 2.0 * (b_ - prior_.b0) + mean_.dot(moment_);
  precision_.diagonal() -= prior_precision_;
  precision_ *= factor;
  precision_.diagonal() += prior_precision_;
  moment_ *= factor;
  a_ = prior_.a0 + factor * (a_ - prior_.a0);
  refactor();
  solve_mean();
  b_ = prior_.b0 + std::max(0.0, 0.5 * (factor * yy - mean_.dot(moment_)));
}

void BayesLinear::refactor() {
  lower_ = precision_;
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> in_place(lower_);
  if (in_place.info() == Eigen::Success && usable(lower_)) return;
  throw failed(
      "bayes_linear: the precision matrix of {} observations is singular to working precision; raise lambda or "
      "standardise the contexts",
      updates_);
}

void BayesLinear::solve_mean() {
  mean_ = moment_;
  lower().solveInPlace(mean_);
  upper().solveInPlace(mean_);
}

double BayesLinear::leverage(const Eigen::Ref<const Eigen::VectorXd>& x) const {
  thread_local Eigen::VectorXd solved;
  solved = x;
  lower().solveInPlace(solved);
  return solved.squaredNorm();
}

void BayesLinear::deviation(const Eigen::Ref<const Eigen::VectorXd>& z, Eigen::VectorXd& out) const {
  out = z;
  upper().solveInPlace(out);  // precision = L Lᵀ, so Lᵀ⁻¹ z has covariance precision⁻¹
}

void BayesLinear::sample(Stream& stream, Eigen::VectorXd& beta) const {
  const double variance = b_ / stream.gamma(a_);
  beta.resize(mean_.size());
  for (double& value : beta) value = stream.normal();
  upper().solveInPlace(beta);  // as deviation() does
  beta = mean_ + std::sqrt(variance) * beta;
}

ValueLaw BayesLinear::law(const Eigen::Ref<const Eigen::VectorXd>& x) const {
  return {.mean = mean_.dot(x), .scale = std::sqrt(b_ / a_ * leverage(x)), .freedom = 2.0 * a_};
}

Eigen::VectorXd BayesLinear::sample(Stream& stream) const {
  Eigen::VectorXd beta;
  sample(stream, beta);
  return beta;
}

}  // namespace pits
