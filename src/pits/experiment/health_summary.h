// The health of an agent's particles on one problem, over realizations.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "pits/experiment/health.h"

namespace pits {

struct HealthSummary {
  struct Curve {
    std::vector<double> mean, se;  // one number for each of `rounds`; se is NaN for one realization
  };

  std::size_t particles = 0;
  std::vector<std::size_t> rounds{};
  std::array<Curve, health_series.size()> curves{};  // in the order of health_series
  std::array<double, PitHistogram::bins> pit{};      // mean share
  std::size_t realizations = 0;
  std::size_t collapsed = 0;        // realizations that end collapsed
  std::size_t collapsed_since = 0;  // the earliest round since which one is; 0 where none is

  const Curve& curve(double HealthPoint::*value) const;
};

// Of realizations that trained at the same rounds; at least one.
HealthSummary summarise_health(std::span<const Health> healths);

// rounds, every series with its standard error as `NAME_se`, pit, collapsed, collapsed_since.
nlohmann::ordered_json health_json(const HealthSummary& summary);

}  // namespace pits
