#include "pits/data/shared.h"

#include <map>
#include <mutex>

namespace pits {
namespace {

struct Loaded {
  std::mutex loading;
  std::weak_ptr<const void> kept;
};

// The loaded objects of the process.
std::shared_ptr<Loaded> slot_of(const std::string& key) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Loaded>> slots;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<Loaded>& slot = slots[key];
  if (!slot) slot = std::make_shared<Loaded>();
  return slot;
}

}  // namespace

std::shared_ptr<const void> shared_load(const std::string& key,
                                        const std::function<std::shared_ptr<const void>()>& load) {
  const std::shared_ptr<Loaded> slot = slot_of(key);
  const std::scoped_lock lock(slot->loading);  // others of this key wait, those of another key do not
  std::shared_ptr<const void> loaded = slot->kept.lock();
  if (!loaded) {
    loaded = load();
    slot->kept = loaded;
  }
  return loaded;
}

}  // namespace pits
