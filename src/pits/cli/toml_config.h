// An experiment as a TOML file:
//
//   agents = ["lin-ts", "pi-ts:released"]
//   environments = ["linear", "wheel"]
//   steps = 2000
//   realizations = 50
//   seed = 0
//   [set.pi-ts]
//   particles = 50
//   [set-env.wheel]
//   delta = 0.9
#pragma once

#include <filesystem>

#include "pits/experiment/plan.h"

namespace pits::cli {

// Overwrites what the file names in `config`. Errors name file, line and key.
void read_toml(const std::filesystem::path& file, ExperimentConfig& config);

}  // namespace pits::cli
