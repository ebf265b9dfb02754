#include "pits/target/funnel.h"

#include <cmath>
#include <utility>

namespace pits {

double Funnel::log_density(std::span<const double> theta) const {
  const auto [x, v] = std::pair{theta[0], theta[1]};
  return -0.5 * (v * v / (scale_ * scale_) + v + x * x * std::exp(-v));
}

void Funnel::score(std::span<const double> theta, std::span<double> out) const {
  const auto [x, v] = std::pair{theta[0], theta[1]};
  const double precision = std::exp(-v);
  out[0] = -x * precision;
  out[1] = -v / (scale_ * scale_) - 0.5 + 0.5 * x * x * precision;
}

void Funnel::sample(Stream& stream, std::span<double> out) const {
  out[1] = scale_ * stream.normal();
  out[0] = std::exp(0.5 * out[1]) * stream.normal();
}

std::unique_ptr<Target> make_funnel() { return std::make_unique<Funnel>(); }

}  // namespace pits
