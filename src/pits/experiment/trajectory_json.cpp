#include "pits/experiment/trajectory_json.h"

#include "pits/core/error.h"
#include "pits/experiment/diagnostics/catalogue.h"

namespace pits {

using Json = nlohmann::ordered_json;

Json trajectory_json(const Trajectory& path) {
  Json json = {{"rounds", path.rounds},
               {"regret", path.regret},
               {"uniform_regret", path.uniform_regret},
               {"normalized_regret", path.normalized_regret()},
               {"pulls", path.pulls},
               {"curve", path.curve}};
  json.update(path.observed);
  return json;
}

Trajectory trajectory_from(const Json& json) {
  Trajectory path;
  path.rounds = json.at("rounds").get<std::size_t>();
  if (path.rounds == 0) throw bad_input("it has no rounds");
  path.regret = json.at("regret").get<double>();
  path.uniform_regret = json.at("uniform_regret").get<double>();
  path.pulls = json.at("pulls").get<std::vector<std::uint64_t>>();
  path.curve = json.at("curve").get<std::vector<double>>();
  if (path.curve.size() != curve_rounds(path.rounds).size()) throw bad_input("curve has {} points", path.curve.size());
  path.observed = observed_in(json);
  return path;
}

}  // namespace pits
