// One copy of what was loaded, shared by everybody in the process who asks for it at the same time.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace pits {

// What `load` gives for `key`, loaded once however many threads ask, and kept as long as somebody holds it. The type
// belongs to the key: the same key is always asked for with the same T. An exception of `load` reaches its caller, and
// the next one tries again.
std::shared_ptr<const void> shared_load(const std::string& key,
                                        const std::function<std::shared_ptr<const void>()>& load);

template <class T>
std::shared_ptr<const T> load_once(const std::string& key, const std::function<T()>& load) {
  return std::static_pointer_cast<const T>(
      shared_load(key, [&] { return std::static_pointer_cast<const void>(std::make_shared<const T>(load())); }));
}

}  // namespace pits
