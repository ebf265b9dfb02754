// From the config of a particle agent to the settings of its GPU version.
#pragma once

#include <string>

#include "pits/agent/particle/pi_ts.h"
#include "pits/cuda/settings.h"

namespace pits::cuda {

// Why an agent of this config cannot run on the GPU in a problem of this shape; empty: it can.
std::string why_not_on_gpu(const PiTsConfig& config, const AgentSetup& setup);

// For a config that can; `rounds` are those of a realization.
Settings gpu_settings(const PiTsConfig& config, const AgentSetup& setup, std::size_t rounds, GpuPrecision precision);

}  // namespace pits::cuda
