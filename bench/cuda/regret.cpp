// The regret of an agent on the GPU beside the CPU's, on the same rounds:
//   bench_gpu_regret AGENT REALIZATIONS STEPS SEED ENV...
// Normalised regret with its standard error, the difference paired over realizations, and seconds, of the CPU on all
// threads.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

#include "pits/cuda/gpu_executor.h"
#include "pits/experiment/results.h"

namespace {

using namespace pits;

struct Regrets {
  std::vector<double> values;  // normalised, of the realizations
  double seconds = 0.0;
};

Regrets run(const ExperimentConfig& config) {
  const Plan plan(config);
  const std::string reason = cuda::without_gpu_version(plan);
  if (!reason.empty()) throw failed("{}", reason);
  cuda::GpuExecutor executor(make_executor());
  MemoryResults results(plan);
  const std::atomic<bool> stop = false;
  const auto start = std::chrono::steady_clock::now();
  executor.run(plan, &results, 0, stop, [](std::size_t) {});
  Regrets r;
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    r.values.push_back(results.get(i).normalized_regret());
  }
  return r;
}

std::string with_error(const std::vector<double>& x) {
  double mean = 0.0, squares = 0.0;
  const auto n = static_cast<double>(x.size());
  for (const double v : x) mean += v / n;
  for (const double v : x) squares += (v - mean) * (v - mean);
  return fmt::format("{:.2f} ± {:.2f}", mean, std::sqrt(squares / (n - 1.0) / n));
}

void compare(ExperimentConfig config) {
  config.device = Device::cpu;
  const Regrets cpu = run(config);
  config.device = Device::cuda;
  const Regrets gpu = run(config);
  std::vector<double> difference;
  for (std::size_t i = 0; i < cpu.values.size(); ++i) difference.push_back(gpu.values[i] - cpu.values[i]);
  fmt::print("{:<24} cpu {:>14} {:>7.2f} s   gpu {:>14} {:>7.2f} s   gpu − cpu {:>14}\n", config.environments.front(),
             with_error(cpu.values), cpu.seconds, with_error(gpu.values), gpu.seconds, with_error(difference));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr, "usage: bench_gpu_regret AGENT REALIZATIONS STEPS SEED ENV...\n");
    return 2;
  }
  try {
    for (int i = 5; i < argc; ++i) {
      compare({.agents = {argv[1]},
               .environments = {argv[i]},
               .steps = std::strtoll(argv[3], nullptr, 10),
               .realizations = std::strtoll(argv[2], nullptr, 10),
               .seed = std::strtoll(argv[4], nullptr, 10)});
    }
  } catch (const Error& e) {
    fmt::print(stderr, "bench_gpu_regret: {}\n", e.what());
    return 1;
  }
  return 0;
}
