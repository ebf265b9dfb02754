// Intervals of an estimate, and what each needs to be believed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "pits/core/enum_names.h"
#include "pits/evaluate/estimators/estimator.h"
#include "pits/evaluate/logged_data.h"

namespace pits {

struct Interval {
  double low, high;
  double width() const { return high - low; }
};

// asymptotic  value ± z·se. For one look at the end, many rounds, and a logger that does not learn.
// bootstrap   quantiles of the estimate over resampled rounds. The same, with less of a normal distribution in it.
// bernstein   holds for every n where weights and rewards are bounded; a logger that does not learn; one look.
// sequence    holds for every n at once, so at every look, and for a logger that learns; needs the rewards' range only.
enum class IntervalKind { asymptotic, bootstrap, bernstein, sequence };
template <>
inline constexpr auto enum_names<IntervalKind> = std::array{"asymptotic", "bootstrap", "bernstein", "sequence"};

// z with P(|N(0,1)| ≤ z) = level.
double normal_quantile(double level);

// Standard error of Σ numerator / Σ denominator by the delta method, from its influence values (n). A mean divides by
// n − 1, a self-normalised ratio by n.
double standard_error(std::span<const double> influence, bool ratio);
Interval asymptotic(double value, double error, double level);

// The estimates of resampled rounds, (draws) for each of the lists: rounds are drawn with replacement, draw b at the
// address (seed, b), the same for all lists, so that differences are of the same rounds.
std::vector<std::vector<double>> resampled(
    std::span<const RoundRatios> lists, int draws, std::uint64_t seed, const std::function<void()>& done = [] {});
// Quantiles (1 ± level)/2, interpolated linearly between order statistics.
Interval percentiles(std::vector<double> values, double level);

// Empirical Bernstein (Maurer and Pontil 2009) for the mean of independent values in an interval of length b:
//   ± √(2 V̂ ln(4/δ) / n) + 7 b ln(4/δ) / (3(n − 1)),   δ = 1 − level
Interval bernstein(std::span<const double> values, double b, double level);

}  // namespace pits
