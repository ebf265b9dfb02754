// Langevin Monte Carlo Thompson sampling (Xu et al. 2022): one network that wanders through exp(−βL) by noisy steps on
// the loss of all observations,
//   θ ← θ − η ∇L + √(2η/β) N(0, I),   L = Σ (r − m)² + a ridge,
// and plays its best action. That is pi-ts with one particle and the flow sgld: the log likelihood −(r − m)²/(2σ²) is
// −β(r − m)² with β = 1/(2σ²), and a step of η/β on it is a step of η on L.
#pragma once

#include "pits/agent/pi_ts.h"

namespace pits {

PiTsConfig langevin_preset(std::string_view name);

}  // namespace pits
