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

struct TorchTime {
  double seconds;
  std::optional<double> p50, p99;
};
struct TorchTimes {
  std::string version{};  // empty: no Python here has PyTorch
  std::map<std::string, TorchTime> work{};
};
// Runs torch_reference.py on these pieces of work, on one thread.
TorchTimes torch_times(const std::vector<std::string>& work, int repetitions, double seconds);

// torch_reference.py.
std::string_view torch_script();

}  // namespace pits::bench
