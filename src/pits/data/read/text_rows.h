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

// A field for a message: in quotes, cut after at most 60 bytes, and valid UTF-8. Other bytes and control characters are
// shown as '?'.
std::string in_quotes(std::string_view field);

// The whole field as a finite number; anything else is an Error. `column` counts from 0.
double parse_number(std::string_view field, std::size_t column, const Place& place);

// The same without an Error: whether the field is a finite number. A sign may be '+' too.
bool read_number(std::string_view field, double& value);
inline bool is_number(std::string_view field) {
  double ignored = 0.0;
  return read_number(field, ignored);
}

// Whether the field is written as a number: also one that is out of range, inf or nan, and is_number refuses.
bool looks_like_number(std::string_view field);

}  // namespace pits
