// A Gaussian bent along a parabola (Haario, Saksman and Tamminen 1999):
//   θ = (z₁, z₂ + c(z₁² − a²)),  z₁ ~ N(0, a²), z₂ ~ N(0, b²).
// The map keeps volumes, so that p(θ) is the Gaussian's density at z and bending a Gaussian draw is exact.
#pragma once

#include "pits/target/target.h"

namespace pits {

struct BananaParameters {
  double length = 1.3;  // a
  double width = 0.5;   // b
  double bend = 0.5;    // c
};

class Banana : public Target {
 public:
  explicit Banana(const BananaParameters& parameters = {}) : parameters_(parameters) {}

  double log_density(std::span<const double> theta) const override;
  void score(std::span<const double> theta, std::span<double> out) const override;
  void sample(Stream& stream, std::span<double> out) const override;
  Window window() const override { return {-4.5, 4.5, -3.0, 6.5}; }

 private:
  // c(x² − a²), the height of the bent axis at x.
  double ridge(double x) const;

  BananaParameters parameters_;
};

std::unique_ptr<Target> make_banana();

}  // namespace pits
