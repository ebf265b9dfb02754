// A cache of loaded objects: one copy per key in the process, shared by all its holders.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace pits {

// The object of `key`, loaded once for any number of threads and kept as long as somebody holds it. A key must always
// be used with the same T. An exception of `load` reaches its caller, and the next caller tries again.
std::shared_ptr<const void> shared_load(const std::string& key,
                                        const std::function<std::shared_ptr<const void>()>& load);

template <class T>
std::shared_ptr<const T> load_once(const std::string& key, const std::function<T()>& load) {
  return std::static_pointer_cast<const T>(
      shared_load(key, [&] { return std::static_pointer_cast<const void>(std::make_shared<const T>(load())); }));
}

}  // namespace pits
