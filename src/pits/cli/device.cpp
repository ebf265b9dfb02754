#include "pits/cli/device.h"

#ifdef PITS_CUDA
#include "pits/cuda/device/device.h"
#include "pits/cuda/gpu_executor.h"
#endif

namespace pits::cli {
namespace {

// Why no GPU can be used; empty: one can.
std::string no_gpu() {
#ifdef PITS_CUDA
  return cuda::device_count() > 0 ? "" : "no GPU or no driver for it is here";
#else
  return "this pits was built without CUDA (cmake --preset cuda builds it in)";
#endif
}

// Why the GPU cannot compute all cells of a plan; empty: it can.
std::string no_gpu_version([[maybe_unused]] const Plan& plan) {
#ifdef PITS_CUDA
  return cuda::without_gpu_version(plan);
#else
  return {};
#endif
}

}  // namespace

Plan plan_on_device(ExperimentConfig config) {
  if (config.device == Device::cpu) return Plan(config);
  const bool asked_for = config.device == Device::cuda;
  if (const std::string reason = no_gpu(); reason.empty()) {
    config.device = Device::cuda;
  } else if (asked_for) {
    throw bad_input("--device cuda: {}; --device cpu needs none", reason);
  } else {
    config.device = Device::cpu;
  }
  if (const auto launch = this_launch(); config.device == Device::cuda && launch && launch->ranks > 1) {
    throw bad_usage("--device {}: ranks of mpirun do not share a GPU; start pits without mpirun",
                    asked_for ? "cuda" : "auto");
  }
  Plan plan(config);
  if (const std::string reason = no_gpu_version(plan); asked_for && !reason.empty()) {
    throw bad_input("--device cuda: {}; --device auto runs it on the CPU", reason);
  }
  return plan;
}

std::unique_ptr<Executor> make_executor_with_gpu() {
#ifdef PITS_CUDA
  return std::make_unique<cuda::GpuExecutor>(make_executor());
#else
  return make_executor();
#endif
}

}  // namespace pits::cli
