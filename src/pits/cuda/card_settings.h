// From the config of a particle agent to what the card needs to know.
#pragma once

#include <string>

#include "pits/agent/pi_ts.h"
#include "pits/cuda/settings.h"

namespace pits::cuda {

// Why an agent of this config cannot run on the card in a problem of this shape; empty: it can.
std::string why_not_on_card(const PiTsConfig& config, const AgentSetup& setup);

// For a config that can; `rounds` are those of a realization.
Settings card_settings(const PiTsConfig& config, const AgentSetup& setup, std::size_t rounds, CardPrecision precision);

}  // namespace pits::cuda
