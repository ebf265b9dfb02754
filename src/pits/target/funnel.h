// Neal's funnel (2003) in two dimensions: θ = (x, v), v ~ N(0, s²), x | v ~ N(0, e^v). Neal has s = 3; a smaller s
// keeps both the neck and the mouth visible on one plot.
#pragma once

#include "pits/target/target.h"

namespace pits {

class Funnel : public Target {
 public:
  explicit Funnel(double scale = 1.2) : scale_(scale) {}

  double log_density(std::span<const double> theta) const override;
  void score(std::span<const double> theta, std::span<double> out) const override;
  void sample(Stream& stream, std::span<double> out) const override;
  Window window() const override { return {-6.0, 6.0, -4.0, 4.0}; }

 private:
  double scale_;  // s
};

std::unique_ptr<Target> make_funnel();

}  // namespace pits
