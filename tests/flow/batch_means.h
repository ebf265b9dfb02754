// The standard error of the mean of an autocorrelated series, by batch means.
#pragma once

#include <cmath>
#include <vector>

namespace pits::test {

struct Estimate {
  double mean = 0.0;
  double standard_error = 0.0;
};

// Batches much longer than the autocorrelation time have means that are nearly independent; what does not fill the
// last batch is dropped at the front, where the series is least settled.
inline Estimate batch_means(const std::vector<double>& series, std::size_t batches = 20) {
  const std::size_t length = series.size() / batches;
  const std::size_t start = series.size() - length * batches;
  std::vector<double> means(batches, 0.0);
  for (std::size_t b = 0; b < batches; ++b) {
    for (std::size_t k = 0; k < length; ++k) {
      means[b] += series[start + b * length + k] / static_cast<double>(length);
    }
  }
  const auto n = static_cast<double>(batches);
  Estimate estimate;
  for (const double m : means) estimate.mean += m / n;
  double square = 0.0;
  for (const double m : means) square += (m - estimate.mean) * (m - estimate.mean);
  estimate.standard_error = std::sqrt(square / (n - 1.0) / n);
  return estimate;
}

}  // namespace pits::test
