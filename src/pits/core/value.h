// How values are copied: two wrappers for members, so that copies of agents are cheap, and a copy for undoing a change.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "pits/core/io/archive.h"

namespace pits {

// A value that copies share until one of them edits it. For large parts that rarely change, such as regressions.
template <class T>
class CopyOnWrite {
 public:
  CopyOnWrite(T value) : value_(std::make_shared<T>(std::move(value))) {}  // NOLINT: a T is one

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  T& edit() {
    if (value_.use_count() > 1) {
      value_ = std::make_shared<T>(*value_);
    } else {
      // use_count() does not synchronise, counting down does: a reader that has just dropped its copy is done reading.
      static_cast<void>(std::shared_ptr<T>(value_));
    }
    return *value_;
  }

  void state(Archive& archive) { archive(edit()); }

 private:
  std::shared_ptr<T> value_;
};

// Buffers that mean nothing between calls: copies start empty.
template <class T>
struct Scratch : T {
  Scratch() = default;
  Scratch(const Scratch&) : T() {}
  Scratch& operator=(const Scratch&) { return *this; }
  Scratch(Scratch&&) = default;
  Scratch& operator=(Scratch&&) = default;
  ~Scratch() = default;
};

// A copy of the value that lasts until this thread copies another of its type. Allocates nothing where sizes stay.
template <class T>
const T& thread_copy(const T& value) {
  thread_local std::optional<T> copy;
  copy = value;
  return *copy;
}

}  // namespace pits
