// The update step of lockstep groups: seconds, operations a second, and their ratio to cuBLAS in the same run.
//   bench_gpu            the shapes of the six problems, 50 realizations
//   bench_gpu scale      statlog's shape, 50 to 5000 realizations
//   bench_gpu large      one run of 1000 wide networks
//   bench_gpu exact      pi-ts:exact: steps, units and last layers anew after 2000 rounds, rounds between
//   bench_gpu step NAME  a few steps of one problem's shape, for a profiler
#include <fmt/format.h>

#include <cstring>

#include "peak.h"
#include "pits/agent/presets.h"
#include "pits/cuda/gpu_settings.h"
#include "pits/cuda/lockstep.h"

namespace {

using namespace pits;
using namespace pits::cuda;

struct ProblemShape {
  const char* name;
  std::size_t d, K;
};
constexpr ProblemShape problems[] = {{"statlog", 9, 7},    {"mushroom", 117, 2}, {"financial", 21, 8},
                                     {"covertype", 54, 7}, {"adult", 94, 14},    {"census", 389, 9}};

// Multiplications and additions of the networks in one step of one particle: forward, and backward without the
// contexts.
double network_operations(const Settings& s, double batch) {
  double sum = 0.0;
  for (int l = 0; l < s.network.layers; ++l) {
    const LayerLayout& layer = s.network.layer[l];
    const bool last = l + 1 == s.network.layers;
    const double weights =
        last ? layer.inputs : static_cast<double>(layer.inputs) * layer.outputs;  // the played action's
    sum += 2.0 * batch * weights * (l == 0 ? 2.0 : 3.0);
  }
  return sum;
}

// Of the flow in one step of one realization: distances and weighted sums over pairs.
double flow_operations(const Settings& s) {
  if (!has_pairs(s.flow)) return 0.0;
  const double pairs = static_cast<double>(s.particles) * s.particles, P = static_cast<double>(s.parameters.size());
  return 2.0 * pairs * P * (has_transport(s.flow) ? 5.0 : 3.0);
}

struct Timing {
  double seconds;     // of a step
  double operations;  // of a step
};

// A group with random rounds and actions in the past.
std::unique_ptr<Lockstep> random_group(const Settings& s, std::size_t G, std::size_t rounds) {
  const auto d = static_cast<std::size_t>(s.context_size), K = static_cast<std::size_t>(s.actions);
  std::vector<std::uint32_t> realizations(G);
  for (std::size_t g = 0; g < G; ++g) realizations[g] = static_cast<std::uint32_t>(g);
  auto lockstep = std::make_unique<Lockstep>(s, realizations, rounds);
  Stream stream({.seed = 5});
  std::vector<float> contexts(rounds * d), rewards(rounds * K);
  stream.fill_normal(contexts);
  stream.fill_normal(rewards);
  for (std::size_t g = 0; g < G; ++g) lockstep->set_rounds(g, contexts, rewards);
  std::vector<std::int32_t> actions(G * rounds);
  for (auto& a : actions) a = static_cast<std::int32_t>(stream.index(static_cast<std::uint32_t>(K)));
  lockstep->set_history(actions);
  return lockstep;
}

Settings bench_settings(PiTsConfig c, std::size_t d, std::size_t K, std::size_t steps, GpuPrecision precision) {
  c.posterior.training.every = 1;
  c.posterior.training.steps = 5;
  c.posterior.training.first = 0;
  c.posterior.training.share = 0.0;
  return gpu_settings(c, {d, K, 1, 0}, steps, precision);
}

Timing time_steps(const PiTsConfig& c, std::size_t d, std::size_t K, std::size_t G, std::size_t rounds,
                  GpuPrecision precision, int steps) {
  const Settings s = bench_settings(c, d, K, std::max<std::size_t>(rounds, static_cast<std::size_t>(steps)), precision);
  const double operations =
      static_cast<double>(G) * (c.posterior.particles * network_operations(s, c.posterior.batch) + flow_operations(s));
  return {random_group(s, G, rounds)->time_training(steps, rounds) / steps, operations};
}

// pi-ts:exact in the shapes of the six problems.
void time_exact() {
  constexpr std::size_t G = 50, rounds = 2000;
  constexpr int steps = 100;
  for (const ProblemShape& p : problems) {
    const Settings s = bench_settings(pi_ts_preset("pi-ts", "exact"), p.d, p.K, rounds, GpuPrecision::tf32);
    const auto group = random_group(s, G, rounds);
    const double step = group->time_training(steps, rounds) / steps, fit = group->time_fit(rounds);
    constexpr std::size_t played = 40;  // between two trainings
    const double round = group->time_rounds(rounds - played, rounds) / played;
    fmt::print("{:<12} F = {:>3} {:>8.1f} us a step {:>8.2f} ms units and last layers anew {:>8.1f} us a round\n",
               p.name, s.last_layer.features, 1e6 * step, 1e3 * fit, 1e6 * round);
  }
}

void say(const char* name, const Timing& t, double peak) {
  fmt::print("{:<28} {:>10.1f} us a step {:>9.2f} GFLOP {:>8.1f} TFLOP/s {:>6.1f} % of cuBLAS\n", name, 1e6 * t.seconds,
             1e-9 * t.operations, 1e-12 * t.operations / t.seconds, 100.0 * t.operations / t.seconds / peak);
}

void compare_problems(double tf32, double float32) {
  for (const GpuPrecision precision : {GpuPrecision::tf32, GpuPrecision::float32}) {
    const bool fast = precision == GpuPrecision::tf32;
    double total = 0.0;
    for (const ProblemShape& p : problems) {
      const Timing t = time_steps(pi_ts_preset("pi-ts", "released"), p.d, p.K, 50, 2000, precision, 100);
      say(fmt::format("{} {}", p.name, fast ? "tf32" : "float32").c_str(), t, fast ? tf32 : float32);
      total += 4000 * t.seconds;
    }
    fmt::print("{} {:.2f} s for the 4000 steps of all six\n", fast ? "tf32" : "float32", total);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "problems";
  if (what == "step") {
    for (const ProblemShape& p : problems) {
      if (argc > 2 && std::strcmp(argv[2], p.name) != 0) continue;
      time_steps(pi_ts_preset("pi-ts", "released"), p.d, p.K, 50, 2000, GpuPrecision::tf32, 2);
    }
    return 0;
  }
  if (what == "exact") {
    time_exact();
    return 0;
  }
  const double tf32 = product_rate(8192, GpuPrecision::tf32), float32 = product_rate(8192, GpuPrecision::float32);
  fmt::print("cuBLAS, 8192x8192x8192: tf32 {:.1f} TFLOP/s, float32 {:.1f} TFLOP/s\n", 1e-12 * tf32, 1e-12 * float32);
  if (what == "problems") compare_problems(tf32, float32);
  if (what == "scale") {
    for (const std::size_t G : {50U, 500U, 5000U}) {
      const Timing t = time_steps(pi_ts_preset("pi-ts", "released"), 9, 7, G, 2000, GpuPrecision::tf32, 100);
      say(fmt::format("statlog, {} realizations", G).c_str(), t, tf32);
    }
  }
  if (what == "large") {
    PiTsConfig c = pi_ts_preset("pi-ts", "released");
    c.posterior.particles = 1000;
    c.posterior.model.hidden = {512, 512};
    c.posterior.batch = 4096;
    say("M=1000, 389-512-512-9", time_steps(c, 389, 9, 1, 4096, GpuPrecision::tf32, 5), tf32);
    c.posterior.flow.kind = FlowKind::ensemble;
    say("the same, independent", time_steps(c, 389, 9, 1, 4096, GpuPrecision::tf32, 5), tf32);
  }
  return 0;
}
