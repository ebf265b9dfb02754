#include "pits/experiment/health_summary.h"

#include <algorithm>

#include "pits/core/error.h"
#include "pits/experiment/curve_sums.h"

namespace pits {
namespace {

std::vector<std::size_t> rounds_of(const Health& health) {
  std::vector<std::size_t> rounds;
  for (const HealthPoint& point : health.points) rounds.push_back(point.round);
  return rounds;
}

HealthSummary::Curve average(std::span<const Health> healths, double HealthPoint::*value) {
  CurveSums sums;
  for (const Health& health : healths) {
    std::vector<double> curve;
    for (const HealthPoint& point : health.points) curve.push_back(point.*value);
    sums.add(curve);
  }
  return {.mean = sums.mean(), .se = sums.se()};
}

}  // namespace

const HealthSummary::Curve& HealthSummary::curve(double HealthPoint::*value) const {
  return curves[static_cast<std::size_t>(std::ranges::find(health_series, value, &HealthSeries::value) -
                                         health_series.begin())];
}

HealthSummary summarise_health(std::span<const Health> healths) {
  HealthSummary s{
      .particles = healths.front().particles, .rounds = rounds_of(healths.front()), .realizations = healths.size()};
  for (const Health& health : healths) {
    if (rounds_of(health) != s.rounds) throw bad_input("realizations of one agent were trained at different rounds");
    for (std::size_t b = 0; b < s.pit.size(); ++b) s.pit[b] += health.pit[b] / static_cast<double>(healths.size());
    const std::size_t since = collapsed_since(health);
    if (since == 0) continue;
    ++s.collapsed;
    s.collapsed_since = s.collapsed_since == 0 ? since : std::min(s.collapsed_since, since);
  }
  for (std::size_t k = 0; k < health_series.size(); ++k) s.curves[k] = average(healths, health_series[k].value);
  return s;
}

nlohmann::ordered_json health_json(const HealthSummary& s) {
  nlohmann::ordered_json json = {{"particles", s.particles}, {"rounds", s.rounds}};
  for (std::size_t k = 0; k < health_series.size(); ++k) {
    const std::string name = health_series[k].name;
    json[name] = s.curves[k].mean;
    json[name + "_se"] = s.curves[k].se;
  }
  json["pit"] = s.pit;
  json["collapsed"] = s.collapsed;
  json["collapsed_since"] = s.collapsed_since;
  return json;
}

}  // namespace pits
