// The health of a set of particles while it plays: how far its particles differ, what keeps them apart, how many of
// them count, and whether rewards fall where they predict them (docs/diagnostics.md).
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "pits/posterior/calibration.h"

namespace pits {

// After a training.
struct HealthPoint {
  std::size_t round = 0;       // counted from 1
  double disagreement = 0.0;   // share of recent contexts on which two particles prefer different actions
  double spread = 0.0;         // of the particles' predictions there, in standard deviations of the rewards
  double collapse_line = 0.0;  // below it the particles have collapsed; in the same units
  double repulsion = 0.0;      // norm of what particles do to each other over that of the drive
  double effective = 0.0;      // number of particles that count
  double covered50 = 0.0;      // share of recent rewards within the central 50 % of their predictive distribution
  double covered90 = 0.0;

  bool collapsed() const { return spread < collapse_line; }
};

// The numbers of a point by name, in the order in which they are stored and shown.
struct HealthSeries {
  const char* name;
  double HealthPoint::*value;
};
inline constexpr std::array<HealthSeries, 7> health_series = {{{"disagreement", &HealthPoint::disagreement},
                                                               {"spread", &HealthPoint::spread},
                                                               {"collapse_line", &HealthPoint::collapse_line},
                                                               {"repulsion", &HealthPoint::repulsion},
                                                               {"effective", &HealthPoint::effective},
                                                               {"covered50", &HealthPoint::covered50},
                                                               {"covered90", &HealthPoint::covered90}}};

struct Health {
  std::size_t particles = 0;  // M; 0 where nobody looked
  std::vector<HealthPoint> points{};
  std::array<double, PitHistogram::bins> pit{};  // where all rewards fell after the first training, as shares

  bool known() const { return particles > 0; }
};

// The round since which the particles are collapsed: that of the first of the collapsed points that the run ends with;
// 0 where it does not end with one.
std::size_t collapsed_since(const Health& health);

}  // namespace pits
