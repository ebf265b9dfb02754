// The exception type of pits. The library never prints and never exits: it throws this, and the program turns the kind
// into an exit code.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pits {

enum class ErrorKind {
  failed,  // something went wrong while working          exit 1
  usage,   // the command line does not parse             exit 2
  input,   // bad data or config                          exit 3
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_) + 1; }

 private:
  ErrorKind kind_;
};

// throw bad_input("particles must be at least 1, not {}", m);
template <class... Args>
Error bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::input, fmt::format(format, std::forward<Args>(args)...)};
}

template <class... Args>
Error bad_usage(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::usage, fmt::format(format, std::forward<Args>(args)...)};
}

template <class... Args>
Error failed(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::failed, fmt::format(format, std::forward<Args>(args)...)};
}

// "unknown agent 'lin-t'; did you mean 'lin-ts'? Known: ..."
Error unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known);

}  // namespace pits
