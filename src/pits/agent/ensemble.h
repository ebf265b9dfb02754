// Independent networks on the same data, one drawn a round: they differ by where they start.
#pragma once

#include "pits/agent/network_agent.h"

namespace pits {

inline PiTsConfig ensemble_preset(std::string_view name) { return independent_particles(20, name); }

}  // namespace pits
