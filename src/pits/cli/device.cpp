#include "pits/cli/device.h"

#ifdef PITS_CUDA
#include "pits/cuda/card_executor.h"
#include "pits/cuda/device.h"
#endif

namespace pits::cli {
namespace {

// Why no card can be used; empty: one can.
std::string no_card() {
#ifdef PITS_CUDA
  return cuda::device_count() > 0 ? "" : "no GPU or no driver for it is here";
#else
  return "this pits was built without CUDA (cmake --preset cuda builds it in)";
#endif
}

}  // namespace

void add_device_options(CLI::App& command, DeviceOptions& options) {
  command.add_option("--device", options.device,
                     "cpu, cuda, or auto: agents that have a GPU version on the card, if there is one (default cpu)");
  command.add_option("--precision", options.precision,
                     "products on the card: tf32, or float32, which takes about twice as long (default tf32)");
}

PlannedDevice planned_device(const DeviceOptions& options) {
  if (options.precision != "tf32" && options.precision != "float32") {
    throw unknown_name("precision", options.precision, {"tf32", "float32"});
  }
  if (options.device == "cpu") return {};
  if (options.device != "cuda" && options.device != "auto") {
    throw unknown_name("device", options.device, {"cpu", "cuda", "auto"});
  }
  const std::string reason = no_card();
  if (!reason.empty()) {
    if (options.device == "auto") return {};
    throw bad_input("--device cuda: {}; --device cpu needs none", reason);
  }
  if (const auto launch = this_launch(); launch && launch->ranks > 1) {
    throw bad_usage("--device {}: ranks of mpirun do not share a card; start pits without mpirun", options.device);
  }
  return {"cuda", options.precision};
}

#ifdef PITS_CUDA
void check_device(const DeviceOptions& options, const Plan& plan) {
  if (options.device != "cuda") return;
  const std::string reason = cuda::without_card_version(plan);
  if (!reason.empty()) throw bad_input("--device cuda: {}; --device auto runs it on the CPU", reason);
}

std::unique_ptr<Executor> make_executor_with_card() { return std::make_unique<cuda::CardExecutor>(make_executor()); }
#else
void check_device(const DeviceOptions&, const Plan&) {}

std::unique_ptr<Executor> make_executor_with_card() { return make_executor(); }
#endif

}  // namespace pits::cli
