#include "pits/experiment/config_difference.h"

#include <fmt/format.h>

namespace pits {

std::string first_difference(const nlohmann::ordered_json& there, const nlohmann::ordered_json& now) {
  using Json = nlohmann::ordered_json;
  const Json patch = Json::diff(there, now);
  if (patch.empty()) return {};
  const std::string place = patch[0].at("path").get<std::string>();
  if (place.empty()) return "run.json is not the config of a run";
  const Json::json_pointer pointer(place);
  const auto shown = [&](const Json& j) { return j.contains(pointer) ? j.at(pointer).dump() : "absent"; };
  return fmt::format("{} is {} there and {} now", place.substr(1), shown(there), shown(now));
}

}  // namespace pits
