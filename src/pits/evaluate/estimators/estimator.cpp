#include "pits/evaluate/estimators/estimator.h"

#include <limits>
#include <numeric>

#include "pits/evaluate/estimators/dm.h"
#include "pits/evaluate/estimators/dr.h"
#include "pits/evaluate/estimators/dros.h"
#include "pits/evaluate/estimators/ips.h"
#include "pits/evaluate/estimators/replay.h"
#include "pits/evaluate/estimators/snips.h"

namespace pits {
namespace {

Ratio ratio(EstimatorKind kind, const RoundTerms& t, double lambda) {
  switch (kind) {
    case EstimatorKind::ips: return ips(t);
    case EstimatorKind::snips: return snips(t);
    case EstimatorKind::dm: return dm(t);
    case EstimatorKind::dr: return dr(t);
    case EstimatorKind::dros: return dros(t, lambda);
    default: return replay(t);
  }
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

RoundRatios ratios_of(EstimatorKind kind, const PolicyTerms& terms, std::optional<double> shrinkage) {
  RoundRatios out{.kind = kind};
  if (kind == EstimatorKind::dros) out.shrinkage = shrinkage ? *shrinkage : shrinkage_of(terms);
  out.numerator.resize(terms.rounds());
  if (self_normalised(kind)) out.denominator.resize(terms.rounds());
  for (std::size_t i = 0; i < terms.rounds(); ++i) {
    const Ratio one = ratio(kind, terms[i], out.shrinkage);
    out.numerator[i] = one.numerator;
    if (self_normalised(kind)) out.denominator[i] = one.denominator;
  }
  return out;
}

double RoundRatios::value() const {
  const double below = denominator.empty() ? static_cast<double>(rounds()) : sum(denominator);
  return below > 0.0 ? sum(numerator) / below : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> RoundRatios::influence() const {
  const double v = value();
  const double mean = denominator.empty() ? 1.0 : sum(denominator) / static_cast<double>(rounds());
  std::vector<double> out(rounds());
  for (std::size_t i = 0; i < rounds(); ++i) out[i] = (numerator[i] - v * below(i)) / mean;
  return out;
}

}  // namespace pits
