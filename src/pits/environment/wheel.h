// The wheel of Riquelme et al. (2018): exploration must find that the rim pays.
//
// x is uniform in the unit disc. Every arm pays N(1, 0.05), arm 5 N(1.2, 0.05); where ‖x‖ ≥ δ the arm of x's quadrant
// pays N(50, 0.01).
#pragma once

#include "pits/core/fields.h"
#include "pits/environment/environment.h"

namespace pits {

struct WheelConfig {
  double delta = 0.5;
  double inner_mean = 1.0;
  double centre_mean = 1.2;  // arm 5
  double rim_mean = 50.0;
  double inner_sd = 0.05;
  double rim_sd = 0.01;
};
Fields fields(WheelConfig& config);

class Wheel : public Environment {
 public:
  Wheel(const WheelConfig& config, const EnvironmentSetup& setup) : config_(checked(config)), setup_(setup) {}

  std::size_t context_size() const override { return 2; }
  std::size_t actions() const override { return 5; }
  void draw(std::size_t t, Round& round) const override;

 private:
  WheelConfig config_;
  EnvironmentSetup setup_;
};

}  // namespace pits
