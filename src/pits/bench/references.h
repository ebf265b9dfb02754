// Other people's code that is measured beside ours, where the machine has it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pits::bench {

// Operations a second of OpenBLAS's sgemm on 2048³, one thread, best of `repetitions`; 0 where OpenBLAS is not found.
double sgemm_flops(int repetitions);

struct ScriptTime {
  double seconds;
  std::optional<double> p50, p99;
};
struct ScriptTimes {
  std::string version{};  // of the library; empty: no Python here has it
  std::map<std::string, ScriptTime> work{};
};
// Run torch_reference.py or numpy_reference.py on these pieces of work, on one thread.
ScriptTimes torch_times(const std::vector<std::string>& work, int repetitions, double seconds);
// numpy as it comes, and with OpenBLAS's kernels named for this machine.
ScriptTimes numpy_times(const std::vector<std::string>& work, int repetitions, double seconds);
ScriptTimes tuned_numpy_times(const std::vector<std::string>& work, int repetitions, double seconds);

// torch_reference.py and numpy_reference.py.
std::string_view torch_script();
std::string_view numpy_script();

}  // namespace pits::bench
