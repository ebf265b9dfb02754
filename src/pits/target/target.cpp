#include "pits/target/target.h"

#include <algorithm>
#include <cmath>

#include "pits/core/error.h"
#include "pits/target/banana.h"
#include "pits/target/funnel.h"
#include "pits/target/gaussian.h"
#include "pits/target/logistic.h"
#include "pits/target/ring.h"

namespace pits {

const std::vector<TargetEntry>& target_catalogue() {
  static const std::vector<TargetEntry> entries = {
      {"gaussian", "correlated Gaussian, variances 1.0 and 0.5", &make_gaussian},
      {"mixture", "three unequal Gaussians", &make_mixture},
      {"banana", "Gaussian bent along a parabola (Haario et al. 1999)", &make_banana},
      {"ring", "Gaussian radius around a circle", &make_ring},
      {"funnel", "width that varies by e^v (Neal 2003), scaled to fit a plot", &make_funnel},
      {"logistic", "posterior of two weights of a logistic regression on 40 points", &make_logistic},
  };
  return entries;
}

const TargetEntry& target_entry(std::string_view name) {
  const auto& entries = target_catalogue();
  const auto found = std::ranges::find(entries, name, &TargetEntry::name);
  if (found != entries.end()) return *found;
  std::vector<std::string> names;
  std::ranges::transform(entries, std::back_inserter(names), &TargetEntry::name);
  throw unknown_name("target", name, names);
}

std::unique_ptr<Target> make_target(std::string_view name) { return target_entry(name).make(); }

void target_scores(const Target& target, ConstMatrixView<double> theta, MatrixView<double> out) {
  for (std::size_t i = 0; i < theta.rows(); ++i) target.score(theta.row(i), out.row(i));
}

Matrix<double> exact_cloud(const Target& target, std::size_t n, std::uint64_t seed, std::uint32_t cloud) {
  Matrix<double> theta(n, target.dimension());
  Stream stream({.seed = seed, .realization = cloud, .purpose = Purpose::target_sample});
  for (std::size_t i = 0; i < n; ++i) target.sample(stream, theta.row(i));
  return theta;
}

DensityGrid density_grid(const Target& target, const Window& window, std::size_t nx, std::size_t ny) {
  DensityGrid grid{.window = window, .value = Matrix<double>(ny, nx)};
  const double dx = (window.x_high - window.x_low) / static_cast<double>(nx);
  const double dy = (window.y_high - window.y_low) / static_cast<double>(ny);
  for (std::size_t iy = 0; iy < ny; ++iy) {
    for (std::size_t ix = 0; ix < nx; ++ix) {
      const double theta[2] = {window.x_low + (static_cast<double>(ix) + 0.5) * dx,
                               window.y_low + (static_cast<double>(iy) + 0.5) * dy};
      grid.value(iy, ix) = target.log_density(theta);
    }
  }
  const double highest = *std::ranges::max_element(grid.value.flat());
  for (double& p : grid.value.flat()) p = std::exp(p - highest);
  return grid;
}

}  // namespace pits
