#include "pits/evaluate/intervals/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "pits/core/parallel.h"
#include "pits/core/random.h"

namespace pits {

double normal_quantile(double level) {
  double low = 0.0, high = 40.0;
  for (int k = 0; k < 200; ++k) {
    const double z = 0.5 * (low + high);
    (std::erf(z / std::sqrt(2.0)) < level ? low : high) = z;
  }
  return 0.5 * (low + high);
}

double standard_error(std::span<const double> influence, bool ratio) {
  const double n = static_cast<double>(influence.size());
  double squares = 0.0;
  for (const double v : influence) squares += v * v;
  if (!ratio && n < 2.0) return std::numeric_limits<double>::infinity();
  return std::sqrt(squares / (ratio ? n : n - 1.0) / n);
}

Interval asymptotic(double value, double error, double level) {
  const double z = normal_quantile(level);
  return {value - z * error, value + z * error};
}

std::vector<std::vector<double>> resampled(std::span<const RoundRatios> lists, int draws, std::uint64_t seed,
                                           const std::function<void()>& done) {
  const auto B = static_cast<std::size_t>(draws);
  std::vector<std::vector<double>> values(lists.size(), std::vector<double>(B));
  if (lists.empty()) return values;
  const std::size_t n = lists.front().rounds();
  parallel_for(B, [&](std::size_t b) {
    Stream stream({.seed = seed, .purpose = Purpose::diagnostics, .step = static_cast<std::uint32_t>(b)});
    std::vector<std::uint32_t> times(n);
    for (std::size_t i = 0; i < n; ++i) ++times[stream.index(static_cast<std::uint32_t>(n))];
    for (std::size_t j = 0; j < lists.size(); ++j) {
      double above = 0.0, below = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        above += times[i] * lists[j].numerator[i];
        below += times[i] * lists[j].below(i);
      }
      values[j][b] = below > 0.0 ? above / below : std::numeric_limits<double>::quiet_NaN();
    }
    done();
  });
  return values;
}

Interval percentiles(std::vector<double> values, double level) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  if (values.empty()) return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  std::ranges::sort(values);
  const auto at = [&](double q) {
    const double place = q * static_cast<double>(values.size() - 1);
    const auto i = static_cast<std::size_t>(place);
    const double next = values[std::min(i + 1, values.size() - 1)];
    return values[i] + (place - static_cast<double>(i)) * (next - values[i]);
  };
  return {at(0.5 * (1.0 - level)), at(0.5 * (1.0 + level))};
}

Interval bernstein(std::span<const double> values, double b, double level) {
  const double n = static_cast<double>(values.size());
  if (n < 2.0) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double log_term = std::log(4.0 / (1.0 - level));
  const double half = std::sqrt(2.0 * squares / (n - 1.0) * log_term / n) + 7.0 * b * log_term / (3.0 * (n - 1.0));
  return {mean - half, mean + half};
}

}  // namespace pits
