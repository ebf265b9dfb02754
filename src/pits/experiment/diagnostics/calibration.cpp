#include "pits/experiment/diagnostics/calibration.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pits {

Pit mixture_pit(double reward, std::span<const double> mean, std::span<const double> sd) {
  double sum = 0.0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    sum += 0.5 * std::erfc((mean[i] - reward) / (sd[i] * std::numbers::sqrt2));
  }
  const double f = sum / static_cast<double>(mean.size());
  return {.low = f, .high = f};
}

Pit coin_pit(double reward, double p) {
  const auto below = [&](double y, bool itself) {
    const double zero = y > 0.0 || (itself && y == 0.0) ? 1.0 - p : 0.0;
    const double one = y > 1.0 || (itself && y == 1.0) ? p : 0.0;
    return zero + one;
  };
  return {.low = below(reward, false), .high = below(reward, true)};
}

double share_between(const Pit& pit, double from, double to) {
  if (pit.low == pit.high) return pit.low >= from && pit.low <= to ? 1.0 : 0.0;
  return std::max(0.0, std::min(pit.high, to) - std::max(pit.low, from)) / (pit.high - pit.low);
}

void PitHistogram::add(const Pit& pit) {
  n_ += 1.0;
  if (pit.low == pit.high) {
    counts_[std::min(bins - 1, static_cast<std::size_t>(pit.low * bins))] += 1.0;
    return;
  }
  constexpr double width = 1.0 / bins;
  for (std::size_t b = 0; b < bins; ++b) {
    const double from = static_cast<double>(b) * width;
    counts_[b] += share_between(pit, from, from + width);
  }
}

std::array<double, PitHistogram::bins> PitHistogram::shares() const {
  std::array<double, bins> shares = counts_;
  for (double& share : shares) share = n_ > 0.0 ? share / n_ : 0.0;
  return shares;
}

double coverage(std::span<const double> shares, double level) {
  const auto n = static_cast<double>(shares.size());
  const auto outside = static_cast<std::size_t>(std::llround(0.5 * (1.0 - level) * n));
  double sum = 0.0;
  for (std::size_t b = outside; b < shares.size() - outside; ++b) sum += shares[b];
  return sum;
}

}  // namespace pits
