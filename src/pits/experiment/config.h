// What a person can set for an experiment. The list of fields makes the options of `pits run`, the keys of a TOML file,
// the keywords of Python's pits.run and the keys of run.json; a new setting is one member and one line of that list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pits/core/fields.h"
#include "pits/experiment/loop.h"

namespace pits {

enum class Device { cpu, cuda, automatic };
template <>
inline constexpr auto enum_names<Device> = std::array{"cpu", "cuda", "auto"};

enum class Precision { tf32, float32 };
template <>
inline constexpr auto enum_names<Precision> = std::array{"tf32", "float32"};

struct ExperimentConfig {
  std::vector<std::string> agents{};        // specs
  std::vector<std::string> environments{};  // specs
  std::int64_t steps = 2000;                // T
  std::int64_t realizations = 10;           // R
  std::int64_t seed = 0;
  std::vector<std::string> set{};      // agent.field=value, for every agent of that name
  std::vector<std::string> set_env{};  // field=value, or environment.field=value
  FeedbackKind feedback = FeedbackKind::played;
  RegretOf regret = RegretOf::rewards;
  std::int64_t training_delay = 0;  // observations
  std::string compare{};            // an agent of the list
  std::string probe{};              // a name of experiment/diagnostics/catalogue.cpp
  bool diagnostics = false;
  std::string data_dir{};
  Device device = Device::cpu;
  Precision precision = Precision::tf32;
};
Fields fields(ExperimentConfig& c);

// Whether run.json holds the field under its name: not where data lie, nor settings that are part of the agents there.
bool is_recorded(const Field& field);
// Whether every run.json holds it. The others are left out at their default: run directories of before there was such a
// field stay valid.
bool is_always_recorded(const Field& field);

}  // namespace pits
