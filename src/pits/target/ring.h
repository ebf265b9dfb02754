// A ring: p(θ) ∝ exp(−(‖θ‖ − R)²/2s²) in the plane, so that the radius has density ∝ r exp(−(r − R)²/2s²).
#pragma once

#include "pits/target/target.h"

namespace pits {

struct RingParameters {
  double radius = 2.0;  // R
  double width = 0.3;   // s
};

class Ring : public Target {
 public:
  explicit Ring(const RingParameters& parameters = {}) : parameters_(parameters) {}

  double log_density(std::span<const double> theta) const override;
  // Zero at the origin, where the density has a kink.
  void score(std::span<const double> theta, std::span<double> out) const override;
  void sample(Stream& stream, std::span<double> out) const override;
  Window window() const override { return {-3.5, 3.5, -3.5, 3.5}; }

 private:
  RingParameters parameters_;
};

std::unique_ptr<Target> make_ring();

}  // namespace pits
