#include "pits/posterior/gradient_design.h"

#include <cmath>

namespace pits {
namespace {

Eigen::VectorXd widened(std::span<const float> g) {
  return Eigen::Map<const Eigen::VectorXf>(g.data(), static_cast<Eigen::Index>(g.size())).cast<double>();
}

}  // namespace

const std::vector<std::string>& EnumNames<DesignKind>::names() {
  static const std::vector<std::string> names = {"diagonal", "full"};
  return names;
}

Fields fields(DesignConfig& c) {
  return Fields{}
      .add("design", c.kind, "diagonal, or full: the whole matrix, for networks of at most 2000 parameters")
      .add("lambda", c.lambda, "the design matrix before any observation is lambda times the identity", above(0));
}

GradientDesign::GradientDesign(const DesignConfig& config, std::size_t parameters) : kind_(checked(config).kind) {
  const auto P = static_cast<Eigen::Index>(parameters);
  if (kind_ == DesignKind::diagonal) {
    diagonal_ = Eigen::VectorXd::Constant(P, config.lambda);
    return;
  }
  if (parameters > largest_full) {
    throw bad_input("design=full takes a network of at most {} parameters, not {}; use design=diagonal or fewer units",
                    largest_full, parameters);
  }
  cholesky_.compute(config.lambda * Eigen::MatrixXd::Identity(P, P));
}

void GradientDesign::add(std::span<const float> g) {
  if (kind_ == DesignKind::diagonal) {
    diagonal_ += widened(g).cwiseAbs2();
  } else {
    cholesky_.rankUpdate(widened(g), 1.0);
  }
}

double GradientDesign::norm(std::span<const float> g) const {
  const Eigen::VectorXd wide = widened(g);
  if (kind_ == DesignKind::diagonal) return std::sqrt((wide.array().square() / diagonal_.array()).sum());
  return cholesky_.matrixL().solve(wide).norm();
}

}  // namespace pits
