// Counts against probabilities.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace pits::test {

// Pearson's χ² with k−1 degrees of freedom has mean k−1 and variance 2(k−1). For small k its tail is heavier than
// normal: 6 standard deviations above the mean is passed about once in 10⁴ seeds. Impossible outcomes may not occur.
inline void expect_frequencies(const std::vector<double>& counts, const std::vector<double>& probabilities) {
  const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
  double chi2 = 0.0;
  double degrees = -1.0;
  for (std::size_t a = 0; a < counts.size(); ++a) {
    if (probabilities[a] == 0.0) {
      EXPECT_EQ(counts[a], 0.0) << "outcome " << a;
      continue;
    }
    const double expected = n * probabilities[a];
    chi2 += (counts[a] - expected) * (counts[a] - expected) / expected;
    degrees += 1.0;
  }
  EXPECT_LE(chi2, degrees + 6.0 * std::sqrt(2.0 * degrees));
}

}  // namespace pits::test
