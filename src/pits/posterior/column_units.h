// Robust units of one column of the contexts, found from a sample of it. Plain, so that the GPU's code includes it.
//
// A column is standardised by its mean and its standard deviation, but the unit is at most four widths of the middle
// two thirds: a few huge numbers must not leave all others at 0. Where that bound holds, numbers beyond two units count
// by their logarithm; the order stays. An extreme number that repeats far from all others, e.g. −999 for a missing
// value, is a level: it becomes 0, the mean of the others, and is marked in a column of its own where one is free.
// Where most numbers are one, as in a flag or a count that is mostly 0, the width is how far the others are from it.
#pragma once

#include <cmath>
#include <cstddef>

#include "pits/posterior/standardise.h"

namespace pits {

class Archive;

struct ColumnUnits {
  static constexpr std::size_t unmarked = static_cast<std::size_t>(-1);
  struct Level {
    float value = 0.0F;
    std::size_t column = unmarked;  // where it is marked

    template <class A>
    void state(A& archive) {
      archive(value, column);
    }
  };
  // From the ends of the sample inwards.
  struct Levels {
    static constexpr std::size_t most = 2;
    Level of[most]{};
    std::size_t count = 0;

    PITS_HOST_DEVICE bool empty() const { return count == 0; }
    PITS_HOST_DEVICE std::size_t size() const { return count; }
    PITS_HOST_DEVICE Level* begin() { return of; }
    PITS_HOST_DEVICE Level* end() { return of + count; }
    PITS_HOST_DEVICE const Level* begin() const { return of; }
    PITS_HOST_DEVICE const Level* end() const { return of + count; }
  };

  bool tails = false;                 // beyond two units by the logarithm
  double centre = 0.0, factor = 1.0;  // u = (x − centre)·factor
  Levels levels{};

  PITS_HOST_DEVICE const Level* level(float x) const {
    for (const Level& l : levels) {
      if (l.value == x) return &l;
    }
    return nullptr;
  }
  PITS_HOST_DEVICE float operator()(float x) const;  // 0 at levels

  template <class A>
  void state(A& archive) {
    archive.version("ColumnUnits", 1)(tails, centre, factor, levels);
  }
};
void state(Archive& archive, ColumnUnits::Levels& levels);

struct RobustConstants {
  static constexpr std::size_t level_columns = 4;   // for all columns of a context together, at most as many as those
  static constexpr std::size_t most_sample = 2048;  // observations that units are found from, evenly spaced
  static constexpr std::size_t least_sample = 20;   // fewer numbers say nothing of tails and levels
  static constexpr double least_share = 0.02;       // of the sample that a level has
  static constexpr std::size_t least_repeats = 4;
  static constexpr double level_gap = 6.0;    // in distances between the quartiles of the others
  static constexpr double most_widths = 4.0;  // half the distance of the 16th and 84th percentile, in a unit
  static constexpr std::size_t least_others =
      10;                              // beside one number that is most of a column, to know a width of them
  static constexpr double bend = 2.0;  // units beyond which heavy tails count by their logarithm
};

PITS_HOST_DEVICE inline float ColumnUnits::operator()(float x) const {
  if (level(x) != nullptr) return 0.0F;
  if (!tails) return standardise(x, centre, factor);
  constexpr double bend = RobustConstants::bend;
  const double u = (x - centre) * factor;
  const double bent = fabs(u) <= bend ? u : copysign(bend * (1.0 + log(fabs(u) / bend)), u);
  return standardise(static_cast<float>(bent), 0.0, 1.0);
}

// Numbers in order.
struct SortedSample {
  const float* x;
  std::size_t n;

  PITS_HOST_DEVICE double quantile(double p) const {
    const double at = p * static_cast<double>(n - 1);
    const auto i = static_cast<std::size_t>(at);
    const double above = x[i + 1 < n ? i + 1 : n - 1];
    return x[i] + (at - static_cast<double>(i)) * (above - x[i]);
  }

  // Of the numbers, those beyond `low` and `high` counted as these.
  PITS_HOST_DEVICE double mean(double low, double high) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += fmin(fmax(double{x[i]}, low), high);
    return sum / static_cast<double>(n);
  }
  PITS_HOST_DEVICE double sd(double around) const {
    double squares = 0.0;
    for (std::size_t i = 0; i < n; ++i) squares += (x[i] - around) * (x[i] - around);
    return sqrt(squares / static_cast<double>(n));
  }

  // Numbers other than the middle one; `low` of them are below it.
  PITS_HOST_DEVICE std::size_t others(std::size_t& low) const {
    const float middle = x[n / 2];
    std::size_t above = 0;
    for (low = 0; x[low] < middle;) ++low;
    while (x[n - 1 - above] > middle) ++above;
    return low + above;
  }
  // The median of how far these are from the middle number; 0 if there are none.
  PITS_HOST_DEVICE double distance_of_others() const {
    std::size_t low = 0;
    const std::size_t count = others(low);
    const double middle = x[n / 2];
    double distance = 0.0;
    std::size_t high = n - (count - low);  // the nearest above
    for (std::size_t i = 0; i < (count + 1) / 2; ++i) {
      const double below = low > 0 ? middle - x[low - 1] : INFINITY, above = high < n ? x[high] - middle : INFINITY;
      distance = fmin(below, above);
      if (below < above) {
        --low;
      } else {
        ++high;
      }
    }
    return distance;
  }
};

// The distance between the quartiles; where these are one number, how far the others are from it.
PITS_HOST_DEVICE inline double level_width(const SortedSample& sample) {
  const double width = sample.quantile(0.75) - sample.quantile(0.25);
  return width > 0.0 ? width : sample.distance_of_others();
}

// Half the distance of the 16th and 84th percentile; where these are one number and enough others are there, how far
// those are from it. 0: not known.
PITS_HOST_DEVICE inline double middle_width(const SortedSample& sample) {
  const double width = 0.5 * (sample.quantile(0.84) - sample.quantile(0.16));
  if (width > 0.0) return width;
  std::size_t low = 0;
  return sample.others(low) < RobustConstants::least_others ? 0.0 : sample.distance_of_others();
}

// Takes a level from the end `low` of the sample; false where it has none.
PITS_HOST_DEVICE inline bool take_level(SortedSample& sample, bool low, ColumnUnits::Levels& levels) {
  using C = RobustConstants;
  if (levels.count == ColumnUnits::Levels::most || sample.n < C::least_sample) return false;
  const float value = low ? sample.x[0] : sample.x[sample.n - 1];
  std::size_t same = 0;
  while (same < sample.n && sample.x[low ? same : sample.n - 1 - same] == value) ++same;
  const SortedSample rest{low ? sample.x + same : sample.x, sample.n - same};
  const double least = fmax(static_cast<double>(C::least_repeats), C::least_share * static_cast<double>(sample.n));
  if (static_cast<double>(same) < least || rest.n < C::least_sample / 2) return false;
  const double width = level_width(rest);
  const double gap = low ? rest.x[0] - double{value} : value - double{rest.x[rest.n - 1]};
  if (!(width > 0.0) || gap <= C::level_gap * width) return false;
  levels.of[levels.count++] = {.value = value};
  sample = rest;
  return true;
}

// Levels are unmarked.
PITS_HOST_DEVICE inline ColumnUnits find_units(SortedSample x) {
  using C = RobustConstants;
  ColumnUnits units;
  for (bool taken = true; taken;) {
    const bool low = take_level(x, true, units.levels), high = take_level(x, false, units.levels);
    taken = low || high;
  }
  units.centre = x.mean(x.x[0], x.x[x.n - 1]);
  double unit = x.sd(units.centre);
  const double most = C::most_widths * middle_width(x);
  units.tails = x.n >= C::least_sample && most > 0.0 && unit > most;
  if (units.tails) {
    unit = most;
    const double middle = x.quantile(0.5);
    units.centre = x.mean(middle - C::bend * unit, middle + C::bend * unit);
  }
  if (unit > 0.0) units.factor = 1.0 / unit;  // a constant column keeps its scale
  return units;
}

}  // namespace pits
