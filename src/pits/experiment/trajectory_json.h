// A trajectory as JSON, to the bit: in the file of a cell and in a message between ranks.
#pragma once

#include <nlohmann/json.hpp>

#include "pits/experiment/loop.h"

namespace pits {

// Everything but the CPU time, which is not part of a cell's file.
nlohmann::ordered_json trajectory_json(const Trajectory& path);
// The inverse. Throws where something is missing or the parts do not fit together.
Trajectory trajectory_from(const nlohmann::ordered_json& json);

}  // namespace pits
