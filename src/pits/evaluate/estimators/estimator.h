// The estimators by name.
#pragma once

#include <optional>
#include <string>

#include "pits/core/enum_names.h"
#include "pits/evaluate/estimators/terms.h"

namespace pits {

enum class EstimatorKind { ips, snips, dm, dr, dros, replay };
template <>
inline constexpr auto enum_names<EstimatorKind> = std::array{"ips", "snips", "dm", "dr", "dros", "replay"};
inline constexpr std::array all_estimators = {EstimatorKind::ips, EstimatorKind::snips, EstimatorKind::dm,
                                              EstimatorKind::dr,  EstimatorKind::dros,  EstimatorKind::replay};

inline bool needs_model(EstimatorKind kind) {
  return kind == EstimatorKind::dm || kind == EstimatorKind::dr || kind == EstimatorKind::dros;
}
// Whether the denominator is a sum of random numbers, not n.
inline bool self_normalised(EstimatorKind kind) {
  return kind == EstimatorKind::snips || kind == EstimatorKind::replay;
}

// One estimate, with what intervals need of every round.
struct RoundRatios {
  EstimatorKind kind;
  double shrinkage = 0.0;                          // λ, of dros
  std::vector<double> numerator{}, denominator{};  // (n); the denominator is empty where it is 1

  std::size_t rounds() const { return numerator.size(); }
  double below(std::size_t i) const { return denominator.empty() ? 1.0 : denominator[i]; }
  double value() const;                   // Σ numerator / Σ denominator; NaN where that is 0
  std::vector<double> influence() const;  // (n) (numerator − value·denominator) / mean(denominator)
};
// λ of dros: as given, or by its rule.
RoundRatios ratios_of(EstimatorKind kind, const PolicyTerms& terms, std::optional<double> shrinkage = {});

}  // namespace pits
