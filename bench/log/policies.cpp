// What a follower of a fleet loads of a bandit, beside what the learner keeps for recovery: bytes, and milliseconds.
//
//   bench_policies [OBSERVATIONS]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "pits/bandit/bandit.h"

namespace pits {
namespace {

constexpr std::size_t d = 20, K = 7;

template <class Run>
double milliseconds(Run&& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void measure(const char* agent, int observations) {
  Bandit bandit(agent, {.context_size = d, .actions = K, .seed = 1});
  Stream stream({.seed = 3, .purpose = Purpose::target_sample});
  for (int t = 0; t < observations; ++t) {
    std::vector<float> x(d);
    for (float& v : x) v = static_cast<float>(stream.normal());
    const auto action = static_cast<Action>(stream.index(K));
    bandit.learn(x, action, x[action] > 0.0F ? 1.0F : 0.0F);
  }
  std::array<double, 3> best{1e9, 1e9, 1e9};
  std::string whole, policy;
  for (int i = 0; i < 5; ++i) {
    best[0] = std::min(best[0], milliseconds([&] { whole = bandit.saved(); }));
    best[1] = std::min(best[1], milliseconds([&] { policy = bandit.saved_policy(); }));
    best[2] = std::min(best[2], milliseconds([&] { Bandit::policy_from_saved(policy, "it"); }));
  }
  fmt::print("| `{}` | {} | {} | {:.2f} | {:.2f} | {:.2f} |\n", agent, whole.size(), policy.size(), best[0], best[1],
             best[2]);
}

}  // namespace
}  // namespace pits

int main(int argc, char** argv) {
  const int observations = argc > 1 ? std::atoi(argv[1]) : 2000;
  fmt::print("| agent | snapshot, bytes | policy, bytes | snapshot saved, ms | policy saved, ms | loaded, ms |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  for (const char* agent : {"lin-ts", "lin-ts,capacity=2000", "neural-linear", "pi-ts:released", "pi-ts", "pi-ts:exact",
                            "vi-ts", "feature-ts"}) {
    pits::measure(agent, observations);
  }
}
