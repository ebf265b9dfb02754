// Data of our own that cannot be right: no caller is to blame.
#pragma once

#include "pits/core/error.h"

namespace pits {

// Exit 3; a service answers 503.
class Damaged : public Error {
 public:
  explicit Damaged(const std::string& message) : Error(ErrorKind::input, message) {}
};

template <class... Args>
Damaged damaged(fmt::format_string<Args...> format, Args&&... args) {
  return Damaged(fmt::format(format, std::forward<Args>(args)...));
}

// What the caller gave is wrong, and nothing else.
inline bool is_refusal(const Error& error) {
  return error.kind() != ErrorKind::failed && dynamic_cast<const Damaged*>(&error) == nullptr;
}

}  // namespace pits
