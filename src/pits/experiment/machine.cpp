#include "pits/experiment/machine.h"

#include <fmt/format.h>

#include <fstream>
#include <thread>

#include "pits/core/simd/kernels.h"

namespace pits {
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace

std::string machine_line() {
  return fmt::format("{}, {} hardware threads, SIMD {}", processor_name(), std::thread::hardware_concurrency(),
                     simd_target());
}

}  // namespace pits
