// Counts against probabilities.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace pits::test {

// Pearson's χ² against its 0.999 quantile after Wilson and Hilferty 1931: counts that have these probabilities exceed
// it about once in a thousand seeds, whatever the degrees of freedom, where every expected count is large. Outcomes of
// probability 0 may not occur.
inline void expect_frequencies(const std::vector<double>& counts, const std::vector<double>& probabilities) {
  ASSERT_EQ(counts.size(), probabilities.size());
  const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
  double chi2 = 0.0;
  double freedom = -1.0;
  for (std::size_t a = 0; a < counts.size(); ++a) {
    if (probabilities[a] == 0.0) {
      EXPECT_EQ(counts[a], 0.0) << "outcome " << a;
      continue;
    }
    const double expected = n * probabilities[a];
    chi2 += (counts[a] - expected) * (counts[a] - expected) / expected;
    freedom += 1.0;
  }
  if (freedom == 0.0) return;  // one possible outcome, and no other occurred
  const double spread = 2.0 / (9.0 * freedom);
  EXPECT_LT(chi2, freedom * std::pow(1.0 - spread + 3.09 * std::sqrt(spread), 3.0));
}

}  // namespace pits::test
