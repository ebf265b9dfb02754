#include "pits/posterior/evidence.h"

#include <Eigen/Cholesky>
#include <algorithm>

namespace pits {
namespace {

// What the regressions together say at the present precisions.
struct Determined {
  std::vector<double> gamma, squares;  // of each group: Σ_a γ, Σ_a |mean|²
  double residuals = 0.0, n = 0.0;
};

void add(const RegressionSums& sums, std::span<const CoefficientGroup> groups, const Eigen::VectorXd& prior,
         Determined& d) {
  thread_local Eigen::MatrixXd xx, lower, inverse;
  thread_local Eigen::VectorXd mean, product;
  xx = sums.xx.selfadjointView<Eigen::Lower>();
  lower = xx;
  lower.diagonal() += prior;
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> cholesky(lower);  // in place
  if (cholesky.info() != Eigen::Success) throw failed("evidence: a precision matrix is singular to working precision");
  mean = sums.xy;
  cholesky.solveInPlace(mean);
  inverse.setIdentity(lower.rows(), lower.cols());  // L⁻¹: column j's squares sum to Σ_jj
  lower.triangularView<Eigen::Lower>().solveInPlace(inverse);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const CoefficientGroup& group = groups[g];
    const double trace = inverse.middleCols(group.first, group.count).squaredNorm();
    d.gamma[g] += static_cast<double>(group.count) - group.precision * trace;
    d.squares[g] += mean.segment(group.first, group.count).squaredNorm();
  }
  product.noalias() = xx * mean;
  d.residuals += std::max(0.0, sums.yy - 2.0 * mean.dot(sums.xy) + mean.dot(product));
  d.n += sums.n;
}

}  // namespace

void prior_precision(std::span<const CoefficientGroup> groups, Eigen::VectorXd& out) {
  Eigen::Index size = 0;
  for (const CoefficientGroup& group : groups) size += group.count;
  out.resize(size);
  for (const CoefficientGroup& group : groups) out.segment(group.first, group.count).setConstant(group.precision);
}

double evidence_step(std::span<const RegressionSums> sums, const BayesLinearConfig& noise,
                     std::span<CoefficientGroup> groups) {
  thread_local Eigen::VectorXd prior;
  thread_local Determined d;
  prior_precision(groups, prior);
  d.gamma.assign(groups.size(), 0.0);
  d.squares.assign(groups.size(), 0.0);
  d.residuals = d.n = 0.0;
  for (const RegressionSums& s : sums) {
    if (s.n > 0.0) add(s, groups, prior, d);
  }
  double free = d.n;
  for (const double gamma : d.gamma) free -= gamma;
  const double variance = (2.0 * noise.b0 + d.residuals) / (2.0 * noise.a0 + std::max(0.0, free));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    CoefficientGroup& group = groups[g];
    const double precision =
        variance * (d.gamma[g] + group.weight) / (d.squares[g] + group.weight * variance / group.expected);
    group.precision = std::clamp(precision, group.low, group.high);
  }
  return variance;
}

}  // namespace pits
