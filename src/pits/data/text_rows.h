// Rows of text fields as the readers hand them on, and the numbers in them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "pits/core/error.h"

namespace pits {

// Where something was read, for messages.
struct Place {
  std::string_view file;
  std::size_t line;  // from 1

  template <class... Args>
  Error wrong(fmt::format_string<Args...> format, Args&&... args) const {
    return bad_input("'{}', line {}: {}", file, line, fmt::format(format, std::forward<Args>(args)...));
  }
};

// The views live for the call only.
using RowSink = std::function<void(std::span<const std::string_view> fields, const Place& place)>;

// The whole field as a finite number; anything else is an Error. `column` counts from 0.
double parse_number(std::string_view field, std::size_t column, const Place& place);

// The same without an Error: whether the field is a finite number.
bool read_number(std::string_view field, double& value);
inline bool is_number(std::string_view field) {
  double ignored = 0.0;
  return read_number(field, ignored);
}

}  // namespace pits
