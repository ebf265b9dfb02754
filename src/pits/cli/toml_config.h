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
//
// Several experiments in one file are [[run]] tables, each with a name; what is above them holds for all:
//
//   agents = ["lin-ts", "uniform"]
//   [[run]]
//   name = "short"
//   environments = ["linear"]
//   steps = 200
#pragma once

#include <filesystem>

#include "pits/experiment/plan.h"

namespace pits::cli {

struct NamedExperiment {
  std::string name{};  // empty: the only one
  ExperimentConfig config{};
};

// At least one. Errors name file, line and key.
std::vector<NamedExperiment> read_toml(const std::filesystem::path& file);

}  // namespace pits::cli
