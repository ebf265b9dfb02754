// Robust units of one column of the contexts, found from a sample of it.
//
// Most columns are standardised by mean and standard deviation. Where the standard deviation says more of the tails
// than of the rest, numbers are counted from the median in widths of the middle two thirds, and beyond one width by
// their logarithm, then standardised: the order stays, and so does the scale of the rest. An extreme number that
// repeats far from all others, e.g. −999 for a missing value, is a level: it becomes 0, the mean of the others, and is
// marked in a column of its own where one is free.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "pits/core/io/archive.h"

namespace pits {

struct ColumnUnits {
  static constexpr std::size_t unmarked = static_cast<std::size_t>(-1);
  struct Level {
    float value = 0.0F;
    std::size_t column = unmarked;  // where it is marked
    void state(Archive& archive) { archive(value, column); }
  };

  bool tails = false;                             // beyond one width by the logarithm
  double centre = 0.0, below = 1.0, above = 1.0;  // u = (x − centre)·below or ·above
  double shift = 0.0, factor = 1.0;               // z = (g(u) − shift)·factor
  std::vector<Level> levels;                      // at most two

  const Level* level(float x) const;
  float operator()(float x) const;  // 0 at levels

  void state(Archive& archive) { archive(tails, centre, below, above, shift, factor, levels); }
};

// Sorts the sample. Levels are unmarked.
ColumnUnits find_units(std::span<float> sample);

}  // namespace pits
