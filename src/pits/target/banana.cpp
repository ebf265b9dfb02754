#include "pits/target/banana.h"

namespace pits {

double Banana::ridge(double x) const { return parameters_.bend * (x * x - parameters_.length * parameters_.length); }

double Banana::log_density(std::span<const double> theta) const {
  const double u = theta[0] / parameters_.length;
  const double v = (theta[1] - ridge(theta[0])) / parameters_.width;
  return -0.5 * (u * u + v * v);
}

void Banana::score(std::span<const double> theta, std::span<double> out) const {
  const double pull = (ridge(theta[0]) - theta[1]) / (parameters_.width * parameters_.width);  // along z₂
  out[0] = -theta[0] / (parameters_.length * parameters_.length) - 2.0 * parameters_.bend * theta[0] * pull;
  out[1] = pull;
}

void Banana::sample(Stream& stream, std::span<double> out) const {
  out[0] = parameters_.length * stream.normal();
  out[1] = ridge(out[0]) + parameters_.width * stream.normal();
}

std::unique_ptr<Target> make_banana() { return std::make_unique<Banana>(); }

}  // namespace pits
