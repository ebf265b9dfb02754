// The design matrix of gradients, Z = λI + Σ g gᵀ, whole or its diagonal only: how well the observations so far pin a
// network down in the direction g.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <span>

#include "pits/core/fields.h"
#include "pits/model/growth.h"
#include "pits/posterior/eigen_archive.h"

namespace pits {

enum class DesignKind { diagonal, full };
template <>
inline constexpr auto enum_names<DesignKind> = std::array{"diagonal", "full"};

struct DesignConfig {
  DesignKind kind = DesignKind::diagonal;
  double lambda = 1.0;
};
Fields fields(DesignConfig& config);
// Throws unless the design can be discounted so: the whole matrix would cost P³ a play.
void check_discount(const DesignConfig& config, double discount);

class GradientDesign {
 public:
  static constexpr std::size_t largest_full = 2000;  // parameters; the whole matrix costs P² a decision and action

  GradientDesign(const DesignConfig& config, std::size_t parameters);

  void add(std::span<const float> g);
  // All plays so far weigh this factor of what they did; for a diagonal only.
  void discount(double factor);
  double norm(std::span<const float> g) const;  // √(gᵀ Z⁻¹ g)

  void state(Archive& archive) { archive.version("GradientDesign", 1)(diagonal_, cholesky_); }

  // Throws where the network would be too large for the design.
  void check(std::size_t parameters) const;
  // The network has grown: directions of fresh parameters are as at the start.
  void grow(std::span<const std::size_t> map);

 private:
  DesignKind kind_;
  double lambda_;
  Eigen::VectorXd diagonal_;  // (P) where diagonal
  // Of Z where full; else of an empty matrix, for Eigen leaves one without a matrix uninitialised.
  Eigen::LLT<Eigen::MatrixXd> cholesky_{Eigen::MatrixXd(0, 0)};
};

}  // namespace pits
