#include "pits/experiment/trajectory_json.h"

#include <limits>

#include "pits/core/error.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Reading> readings_in(const Json& json, std::size_t rounds) {
  const auto w2 = json.at("posterior_w2").get<std::vector<double>>();
  const auto floor = json.at("posterior_floor").get<std::vector<double>>();
  if (w2.size() != probe_rounds(rounds).size() || floor.size() != w2.size()) {
    throw bad_input("posterior_w2 has {} readings", w2.size());
  }
  std::vector<Reading> readings(w2.size());
  for (std::size_t i = 0; i < w2.size(); ++i) readings[i] = {.w2 = w2[i], .floor = floor[i]};
  return readings;
}

Json health_json(const Health& health) {
  Json json = {{"particles", health.particles}, {"rounds", Json::array()}};
  for (const HealthPoint& point : health.points) json["rounds"].push_back(point.round);
  for (const auto& [name, value] : health_series) {
    json[name] = Json::array();
    for (const HealthPoint& point : health.points) json[name].push_back(point.*value);
  }
  json["pit"] = health.pit;
  return json;
}

Health health_in(const Json& json) {
  Health health;
  health.particles = json.at("particles").get<std::size_t>();
  const auto rounds = json.at("rounds").get<std::vector<std::size_t>>();
  health.points.resize(rounds.size());
  for (std::size_t i = 0; i < rounds.size(); ++i) health.points[i].round = rounds[i];
  for (const auto& [name, value] : health_series) {
    const Json& numbers = json.at(name);
    if (numbers.size() != rounds.size())
      throw bad_input("{} has {} points, not {}", name, numbers.size(), rounds.size());
    for (std::size_t i = 0; i < rounds.size(); ++i) {  // null: not a number
      health.points[i].*value =
          numbers[i].is_null() ? std::numeric_limits<double>::quiet_NaN() : numbers[i].get<double>();
    }
  }
  if (json.at("pit").size() != health.pit.size()) throw bad_input("pit has {} bins", json.at("pit").size());
  health.pit = json.at("pit").get<std::array<double, PitHistogram::bins>>();
  return health;
}

}  // namespace

Json trajectory_json(const Trajectory& path) {
  Json json = {{"rounds", path.rounds},
               {"regret", path.regret},
               {"uniform_regret", path.uniform_regret},
               {"normalized_regret", path.normalized_regret()},
               {"pulls", path.pulls},
               {"curve", path.curve}};
  for (const Reading& reading : path.readings) {
    json["posterior_w2"].push_back(reading.w2);
    json["posterior_floor"].push_back(reading.floor);
  }
  if (path.health.known()) json["health"] = health_json(path.health);
  return json;
}

Trajectory trajectory_from(const Json& json) {
  Trajectory path;
  path.rounds = json.at("rounds").get<std::size_t>();
  path.regret = json.at("regret").get<double>();
  path.uniform_regret = json.at("uniform_regret").get<double>();
  path.pulls = json.at("pulls").get<std::vector<std::uint64_t>>();
  path.curve = json.at("curve").get<std::vector<double>>();
  if (path.curve.size() != curve_rounds(path.rounds).size()) throw bad_input("curve has {} points", path.curve.size());
  if (json.contains("posterior_w2")) path.readings = readings_in(json, path.rounds);
  if (json.contains("health")) path.health = health_in(json.at("health"));
  return path;
}

}  // namespace pits
