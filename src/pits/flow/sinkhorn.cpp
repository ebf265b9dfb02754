#include "pits/flow/sinkhorn.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "pits/core/error.h"

namespace pits {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

constexpr int sweeps_a_round = 20;

// log Σ_l exp(x_l)
double log_sum_exp(const Vector& x) {
  const double top = x.maxCoeff();
  return top + std::log((x.array() - top).exp().sum());
}

// The plan as K = Mπ, K_ij = exp(f_i + g_j − c_ij/λ), whose rows and columns shall sum to 1; f and g are the
// potentials in units of λ. Column sums are 1 after every member function, row sums only in the end.
class Balance {
 public:
  Balance(ConstMatrixView<double> cost, double lambda)
      : scaled_cost_(Eigen::Map<const RowMajor>(cost.data(), static_cast<Eigen::Index>(cost.rows()),
                                                static_cast<Eigen::Index>(cost.cols())) /
                     lambda),
        f_(Vector::Zero(scaled_cost_.rows())),
        g_(Vector::Zero(scaled_cost_.rows())) {
    scaled_cost_.colwise() -= scaled_cost_.rowwise().minCoeff().eval();  // changes no plan; keeps digits
    sweep_logarithms();
  }

  // Rounding of f_i + g_j − c_ij/λ: marginals cannot be better than this.
  double rounding() const { return 4.0 * std::numeric_limits<double>::epsilon() * scaled_cost_.maxCoeff(); }

  double error() const { return (kernel_.rowwise().sum().array() - 1.0).abs().maxCoeff(); }
  const RowMajor& kernel() const { return kernel_; }

  // One sweep that no cost overflows: f_i = −log Σ_j exp(g_j − c_ij/λ), then g alike.
  void sweep_logarithms() {
    for (Eigen::Index i = 0; i < f_.size(); ++i) f_[i] = -log_sum_exp(g_ - scaled_cost_.row(i).transpose());
    repair_columns();
  }

  // Sweeps u = 1/(Kv), v = 1/(Kᵀu) on a fixed K, which cost no exponentials (Schmitzer 2019). Stops where the
  // factors grow beyond what K, whose small entries have underflowed, can bear.
  void sweep_factors(double tolerance) {
    Vector u = Vector::Ones(f_.size());
    Vector v = u;
    for (int k = 0; k < sweeps_a_round; ++k) {
      const Vector next = (kernel_ * v).cwiseInverse();
      if (!(next.maxCoeff() < 1e50 && next.minCoeff() > 1e-50)) break;
      const double change = (next.cwiseQuotient(u).array() - 1.0).abs().maxCoeff();
      u = next;
      v = (kernel_.transpose() * u).cwiseInverse();
      if (change < tolerance) break;
    }
    f_.array() += u.array().log();
    repair_columns();
  }

  // Newton's step on the concave dual in f alone (g follows): the Hessian is the Laplacian diag(r) − KKᵀ, r the row
  // sums. Cures the slow mode of clusters that hardly exchange mass, where sweeps need e^{distance²/λ} rounds. The
  // small ridge, gone at convergence, keeps clusters that exchange none apart from each other's rounding errors.
  void newton() {
    const Vector residual = 1.0 - kernel_.rowwise().sum().array();
    RowMajor hessian = -kernel_ * kernel_.transpose();
    hessian.diagonal().setZero();
    hessian.diagonal() = -hessian.rowwise().sum();
    hessian.diagonal().array() += 1e-3 * residual.cwiseAbs().maxCoeff();
    const Vector direction = hessian.ldlt().solve(residual);
    if (!direction.allFinite()) return;
    const Balance before = *this;
    for (double t = 1.0; t > 0.01; t *= 0.5) {
      f_ = before.f_ + t * direction;
      repair_columns();
      if ((kernel_.rowwise().sum().array() - 1.0).matrix().norm() < residual.norm()) return;
    }
    *this = before;
  }

 private:
  void repair_columns() {
    for (Eigen::Index j = 0; j < g_.size(); ++j) g_[j] = -log_sum_exp(f_ - scaled_cost_.col(j));
    kernel_ = (((-scaled_cost_).colwise() + f_).rowwise() + g_.transpose()).array().exp();
  }

  RowMajor scaled_cost_;  // c/λ (M,M)
  Vector f_;
  Vector g_;
  RowMajor kernel_;  // K (M,M)
};

}  // namespace

Matrix<double> sinkhorn_plan(ConstMatrixView<double> cost, double lambda, const SinkhornOptions& options) {
  if (!(lambda > 0.0)) throw bad_input("sinkhorn: lambda must be above 0, not {}", lambda);
  for (const double c : cost.flat()) {
    if (!std::isfinite(c)) throw bad_input("sinkhorn: every cost must be a finite number, not {}", c);
  }
  Balance balance(cost, lambda);
  const double tolerance = std::max(options.tolerance, balance.rounding());
  for (int sweeps = 1; !(balance.error() <= tolerance); sweeps += sweeps_a_round) {
    if (sweeps >= options.max_iterations) {
      throw failed(
          "sinkhorn: marginals still off by {:.1e} after {} iterations; a larger lambda than {} converges sooner",
          balance.error(), options.max_iterations, lambda);
    }
    balance.sweep_factors(tolerance);
    if (balance.error() <= tolerance) break;
    balance.newton();
    balance.sweep_logarithms();
  }
  Matrix<double> plan(cost.rows(), cost.rows());
  Eigen::Map<RowMajor>(plan.data(), balance.kernel().rows(), balance.kernel().cols()) =
      balance.kernel() / static_cast<double>(cost.rows());
  return plan;
}

}  // namespace pits
