#include "pits/target/logistic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pits {
namespace {

// Cells a side. On the support of make_logistic a cell is at most 0.07 posterior standard deviations wide. Its mass
// comes from the midpoint rule, which gives sums over a smooth density that vanishes at the edge to rounding; the
// draw is uniform inside it, which adds width²/12 to the variance of a coordinate: a relative error of 4e-4.
constexpr std::size_t cells = 256;

// log(1 + e^{−m}), without overflow for m ≪ 0.
double log_one_plus_exp_minus(double m) { return m > 0.0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m; }

}  // namespace

LogisticData logistic_example() {
  constexpr std::size_t n = 40;
  constexpr double weights[2] = {1.5, -1.0};
  LogisticData data{.x = Matrix<double>(n, 2), .y = std::vector<double>(n)};
  Stream stream({.seed = 2019, .purpose = Purpose::environment_setup});
  for (std::size_t i = 0; i < n; ++i) {
    data.x(i, 0) = stream.normal();
    data.x(i, 1) = 0.6 * data.x(i, 0) + 0.8 * stream.normal();
    const double margin = weights[0] * data.x(i, 0) + weights[1] * data.x(i, 1);
    data.y[i] = stream.uniform() < 1.0 / (1.0 + std::exp(-margin)) ? 1.0 : -1.0;
  }
  return data;
}

LogisticPosterior::LogisticPosterior(LogisticData data, double prior_sd, const Window& support, const Window& window)
    : data_(std::move(data)), prior_sd_(prior_sd), support_(support), window_(window), cumulative_(cells * cells) {
  const DensityGrid grid = density_grid(*this, support_, cells, cells);
  std::partial_sum(grid.value.flat().begin(), grid.value.flat().end(), cumulative_.begin());
  const double total = cumulative_.back();
  for (double& c : cumulative_) c /= total;
}

double LogisticPosterior::log_density(std::span<const double> theta) const {
  double u = -0.5 * (theta[0] * theta[0] + theta[1] * theta[1]) / (prior_sd_ * prior_sd_);
  for (std::size_t i = 0; i < data_.y.size(); ++i) {
    u -= log_one_plus_exp_minus(data_.y[i] * (theta[0] * data_.x(i, 0) + theta[1] * data_.x(i, 1)));
  }
  return u;
}

void LogisticPosterior::score(std::span<const double> theta, std::span<double> out) const {
  for (std::size_t j = 0; j < 2; ++j) out[j] = -theta[j] / (prior_sd_ * prior_sd_);
  for (std::size_t i = 0; i < data_.y.size(); ++i) {
    const double margin = data_.y[i] * (theta[0] * data_.x(i, 0) + theta[1] * data_.x(i, 1));
    const double surprise = data_.y[i] / (1.0 + std::exp(margin));
    for (std::size_t j = 0; j < 2; ++j) out[j] += surprise * data_.x(i, j);
  }
}

void LogisticPosterior::sample(Stream& stream, std::span<double> out) const {
  const auto found = std::ranges::upper_bound(cumulative_, stream.uniform());
  const auto cell = static_cast<std::size_t>(std::min(found, cumulative_.end() - 1) - cumulative_.begin());
  const double across = (static_cast<double>(cell % cells) + stream.uniform()) / static_cast<double>(cells);
  const double up = (static_cast<double>(cell / cells) + stream.uniform()) / static_cast<double>(cells);
  out[0] = support_.x_low + across * (support_.x_high - support_.x_low);
  out[1] = support_.y_low + up * (support_.y_high - support_.y_low);
}

// Posterior mean (2.04, −1.44), standard deviations 0.68 and 0.58; the mass outside the support is below 1e-10.
std::unique_ptr<Target> make_logistic() {
  constexpr double prior_sd = 2.0;
  return std::make_unique<LogisticPosterior>(logistic_example(), prior_sd, Window{-1.5, 8.5, -7.5, 2.0},
                                             Window{-0.5, 5.0, -4.2, 0.8});
}

}  // namespace pits
