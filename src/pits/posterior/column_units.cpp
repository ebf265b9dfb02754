#include "pits/posterior/column_units.h"

#include <algorithm>
#include <cmath>

#include "pits/posterior/standardise.h"

namespace pits {
namespace {

using Sorted = std::span<const float>;

constexpr std::size_t least_sample = 20;  // fewer numbers say nothing of tails and levels
constexpr double least_share = 0.02;      // of the sample that a level has
constexpr std::size_t least_repeats = 4;
constexpr double level_gap = 6.0;     // in distances between the quartiles of the others
constexpr double heavy_tails = 10.0;  // standard deviations in half the distance of the 16th and 84th percentile

double quantile(Sorted x, double p) {
  const double at = p * static_cast<double>(x.size() - 1);
  const auto i = static_cast<std::size_t>(at);
  const double above = x[std::min(i + 1, x.size() - 1)];
  return x[i] + (at - static_cast<double>(i)) * (above - x[i]);
}

struct Moments {
  double mean = 0.0, sd = 0.0;
};
template <class Numbers>
Moments moments(const Numbers& x) {
  const auto n = static_cast<double>(x.size());
  Moments m;
  for (const double v : x) m.mean += v / n;
  for (const double v : x) m.sd += (v - m.mean) * (v - m.mean) / n;
  m.sd = std::sqrt(m.sd);
  return m;
}

double compressed(double u) { return std::abs(u) <= 1.0 ? u : std::copysign(1.0 + std::log(std::abs(u)), u); }

// Takes a level from the end `low` of the sample, where it has one.
bool take_level(Sorted& x, bool low, std::vector<ColumnUnits::Level>& levels) {
  if (x.size() < least_sample) return false;
  const float value = low ? x.front() : x.back();
  const auto same = std::ranges::equal_range(x, value);
  const Sorted rest = low ? x.subspan(same.size()) : x.first(x.size() - same.size());
  const auto least = std::max(static_cast<double>(least_repeats), least_share * static_cast<double>(x.size()));
  if (static_cast<double>(same.size()) < least || rest.size() < least_sample / 2) return false;
  const double width = quantile(rest, 0.75) - quantile(rest, 0.25);
  const double gap = low ? rest.front() - double{value} : value - double{rest.back()};
  if (!(width > 0.0) || gap <= level_gap * width) return false;
  levels.push_back({.value = value});
  x = rest;
  return true;
}

}  // namespace

const ColumnUnits::Level* ColumnUnits::level(float x) const {
  const auto found = std::ranges::find(levels, x, &Level::value);
  return found == levels.end() ? nullptr : &*found;
}

float ColumnUnits::operator()(float x) const {
  if (level(x) != nullptr) return 0.0F;
  if (!tails) return standardise(x, centre, above);
  const double u = (x - centre) * (x < centre ? below : above);
  return standardise(static_cast<float>(compressed(u)), shift, factor);
}

ColumnUnits find_units(std::span<float> sample) {
  std::ranges::sort(sample);
  ColumnUnits units;
  Sorted x = sample;
  take_level(x, true, units.levels);
  take_level(x, false, units.levels);
  const Moments plain = moments(x);
  const double low = quantile(x, 0.16), middle = quantile(x, 0.5), high = quantile(x, 0.84);
  const double width = 0.5 * (high - low);
  units.tails = x.size() >= least_sample && low < middle && middle < high && plain.sd > heavy_tails * width;
  if (!units.tails) {
    units.centre = plain.mean;
    units.below = units.above = plain.sd > 0.0 ? 1.0 / plain.sd : 1.0;  // a constant column keeps its scale
    return units;
  }
  units.centre = middle;
  units.below = 1.0 / (middle - low);
  units.above = 1.0 / (high - middle);
  std::vector<double> u;
  for (const float v : x) u.push_back(compressed((v - middle) * (v < middle ? units.below : units.above)));
  const Moments m = moments(u);
  units.shift = m.mean;
  units.factor = 1.0 / m.sd;
  return units;
}

}  // namespace pits
