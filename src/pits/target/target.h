// Densities that are known: where a cloud of particles can be compared with exact samples. All in double.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/core/random.h"

namespace pits {

// The part of the plane worth plotting: nearly all of the density.
struct Window {
  double x_low;
  double x_high;
  double y_low;
  double y_high;
};

class Target {
 public:
  virtual ~Target() = default;

  virtual std::size_t dimension() const { return 2; }
  // log p(θ) up to a constant.
  virtual double log_density(std::span<const double> theta) const = 0;
  // ∇ log p(θ)
  virtual void score(std::span<const double> theta, std::span<double> out) const = 0;
  // One exact draw; the number of words it takes from the stream may vary.
  virtual void sample(Stream& stream, std::span<double> out) const = 0;
  virtual Window window() const = 0;
};

struct TargetEntry {
  std::string name;
  std::string summary;  // one line
  std::unique_ptr<Target> (*make)();
};

const std::vector<TargetEntry>& target_catalogue();
// Throws with a "did you mean" where the name is not in the catalogue.
const TargetEntry& target_entry(std::string_view name);
std::unique_ptr<Target> make_target(std::string_view name);

// G_i = ∇ log p(θ_i), both (M,P).
void target_scores(const Target& target, ConstMatrixView<double> theta, MatrixView<double> out);

// n exact draws (n,P). `cloud` numbers the clouds of one seed: different numbers are independent.
Matrix<double> exact_cloud(const Target& target, std::size_t n, std::uint64_t seed, std::uint32_t cloud);

// p on the centres of ny × nx equal cells of the window, scaled to a largest value of 1.
struct DensityGrid {
  Window window;
  Matrix<double> value;  // (ny,nx); row 0 is the lowest y, column 0 the lowest x
};
DensityGrid density_grid(const Target& target, const Window& window, std::size_t nx, std::size_t ny);

}  // namespace pits
