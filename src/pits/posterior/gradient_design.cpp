#include "pits/posterior/gradient_design.h"

#include <cmath>

namespace pits {
namespace {

Eigen::VectorXd widened(std::span<const float> g) {
  return Eigen::Map<const Eigen::VectorXf>(g.data(), static_cast<Eigen::Index>(g.size())).cast<double>();
}

}  // namespace

Fields fields(DesignConfig& c) {
  return Fields{}
      .add("design", c.kind, "diagonal, or full: the whole matrix, for networks of at most 2000 parameters")
      .add("lambda", c.lambda, "the design matrix before any observation is lambda times the identity", above(0));
}

void check_discount(const DesignConfig& config, double discount) {
  if (discount < 1.0 && config.kind == DesignKind::full) throw bad_input("a discount needs design=diagonal, not full");
}

void GradientDesign::check(std::size_t parameters) const {
  if (kind_ == DesignKind::diagonal || parameters <= largest_full) return;
  throw bad_input("design=full takes a network of at most {} parameters, not {}; use design=diagonal or fewer units",
                  largest_full, parameters);
}

GradientDesign::GradientDesign(const DesignConfig& config, std::size_t parameters)
    : kind_(checked(config).kind), lambda_(config.lambda) {
  const auto P = static_cast<Eigen::Index>(parameters);
  if (kind_ == DesignKind::diagonal) {
    diagonal_ = Eigen::VectorXd::Constant(P, config.lambda);
    return;
  }
  check(parameters);
  cholesky_.compute(config.lambda * Eigen::MatrixXd::Identity(P, P));
}

void GradientDesign::add(std::span<const float> g) {
  if (kind_ == DesignKind::diagonal) {
    diagonal_ += widened(g).cwiseAbs2();
  } else {
    cholesky_.rankUpdate(widened(g), 1.0);
  }
}

void GradientDesign::discount(double factor) {
  if (kind_ == DesignKind::full) throw failed("a whole design matrix is not discounted");
  diagonal_ = (factor * diagonal_.array() + (1.0 - factor) * lambda_).matrix();
}

double GradientDesign::norm(std::span<const float> g) const {
  const Eigen::VectorXd wide = widened(g);
  if (kind_ == DesignKind::diagonal) return std::sqrt((wide.array().square() / diagonal_.array()).sum());
  return cholesky_.matrixL().solve(wide).norm();
}

void GradientDesign::grow(std::span<const std::size_t> map) {
  const auto P = static_cast<Eigen::Index>(map.size());
  const auto old = [&](Eigen::Index j) { return static_cast<Eigen::Index>(map[static_cast<std::size_t>(j)]); };
  const auto is_fresh = [&](Eigen::Index j) { return map[static_cast<std::size_t>(j)] == fresh; };
  if (kind_ == DesignKind::diagonal) {
    Eigen::VectorXd after = Eigen::VectorXd::Constant(P, lambda_);
    for (Eigen::Index j = 0; j < P; ++j) after[j] = is_fresh(j) ? lambda_ : diagonal_[old(j)];
    diagonal_ = after;
    return;
  }
  check(map.size());
  const Eigen::MatrixXd before = cholesky_.reconstructedMatrix();
  Eigen::MatrixXd after = lambda_ * Eigen::MatrixXd::Identity(P, P);
  for (Eigen::Index i = 0; i < P; ++i) {
    for (Eigen::Index j = 0; j < P; ++j) {
      if (!is_fresh(i) && !is_fresh(j)) after(i, j) = before(old(i), old(j));
    }
  }
  cholesky_.compute(after);
}

}  // namespace pits
