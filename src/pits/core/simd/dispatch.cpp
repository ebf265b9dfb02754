// The choice of SIMD target.
#include <hwy/targets.h>

#include <atomic>
#include <cstdlib>

#include "pits/core/error.h"
#include "pits/core/simd/kernels.h"
#include "pits/core/simd/tiles.h"

namespace pits {
namespace {

// A target that may be forced: vectors of one width; the widest also with tile registers, where the machine has them.
struct Target {
  std::int64_t vectors;
  bool tiles;
  std::string name() const { return std::string(hwy::TargetName(vectors)) + (tiles ? "_AMX" : ""); }
};

// Widest first. Asked before the first force, which would narrow Highway's answer.
const std::vector<Target>& machine_targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> all;
    for (const std::int64_t vectors : hwy::SupportedAndGeneratedTargets()) all.push_back({vectors, false});
    const bool wide = all.front().name().starts_with("AVX3");
    if (wide && machine_has_tiles()) all.insert(all.begin(), {all.front().vectors, true});
    return all;
  }();
  return targets;
}

// Read by any thread while another one forces one: a service says what it is while it opens its first log.
std::atomic<const Target*> forced_target{nullptr};

const Target& target_in_use() {
  const Target* const forced = forced_target;
  return forced == nullptr ? machine_targets().front() : *forced;
}

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const Target& target : machine_targets()) names.push_back(target.name());
  return names;
}

std::string simd_target() { return target_in_use().name(); }

bool tiles_in_use() { return target_in_use().tiles; }

void force_simd_target(const std::string& name) {
  const Target* wanted = nullptr;
  for (const Target& target : machine_targets()) {
    if (name == target.name()) wanted = &target;
  }
  if (!name.empty() && wanted == nullptr) throw unknown_name("SIMD target", name, simd_targets());
  forced_target = wanted;
  hwy::SetSupportedTargetsForTest(wanted == nullptr ? 0 : wanted->vectors);  // 0: what the machine has
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void force_simd_target_of_environment() {
  const char* name = std::getenv("PITS_SIMD");
  if (name == nullptr) return;
  try {
    force_simd_target(name);
  } catch (const Error& e) {
    throw bad_input("PITS_SIMD: {}", e.what());
  }
}

}  // namespace pits
