#include "pits/log/simd_pin.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "pits/core/simd/kernels.h"

namespace pits {
namespace {

struct Pins {
  std::mutex mutex;
  int count = 0;
  std::string before;  // the target that returns with the last pin
};
Pins& pins() {
  static Pins all;
  return all;
}

}  // namespace

std::string newest_engine(const Store& store) {
  if (const auto snapshots = store.snapshots(); !snapshots.empty()) return snapshots.back().engine;
  const auto group = store.group_holding(1);
  if (!group) throw bad_input("the store holds no log");
  const Event first = group->event(1);
  const auto* created = std::get_if<Created>(&first);
  return created == nullptr ? "" : created->engine;
}

SimdPin::SimdPin(const std::string& engine) {
  Pins& all = pins();
  const std::scoped_lock lock(all.mutex);
  if (all.count++ > 0) return;
  all.before = simd_target();
  const std::string target = engine.substr(engine.rfind(' ') + 1);
  const std::vector<std::string> here = simd_targets();
  const bool has = std::ranges::find(here, target) != here.end();
  if (has && target != all.before && std::getenv("PITS_SIMD") == nullptr) force_simd_target(target);
}

SimdPin::~SimdPin() {
  Pins& all = pins();
  const std::scoped_lock lock(all.mutex);
  if (--all.count == 0 && simd_target() != all.before) force_simd_target(all.before);
}

}  // namespace pits
