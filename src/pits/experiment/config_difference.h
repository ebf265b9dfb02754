// The first difference between two resolved configs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace pits {

// The first place, as 'agents/0/fields/step is "0.001" there and "0.01" now'; empty where there is none.
std::string first_difference(const nlohmann::ordered_json& there, const nlohmann::ordered_json& now);

}  // namespace pits
