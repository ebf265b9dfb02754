// Where cells are computed: --device and --precision of the commands that run plans.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "pits/experiment/executor.h"

namespace pits::cli {

struct DeviceOptions {
  std::string device = "cpu";      // cpu, cuda, auto
  std::string precision = "tf32";  // tf32, float32
};
void add_device_options(CLI::App& command, DeviceOptions& options);

// The device as a plan knows it: empty for the CPU. Throws where a card is asked for and there is none.
struct PlannedDevice {
  std::string device{}, precision{};
};
PlannedDevice planned_device(const DeviceOptions& options);

// Throws where --device cuda was said and an agent of the plan has no GPU version.
void check_device(const DeviceOptions& options, const Plan& plan);

// The program's executor: knows the card where pits was built with CUDA.
std::unique_ptr<Executor> make_executor_with_card();

}  // namespace pits::cli
