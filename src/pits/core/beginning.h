#pragma once

#include <string_view>

namespace pits {

// The start of a text for a message: at most so many bytes, and no part of a letter of UTF-8.
inline std::string_view beginning(std::string_view text, std::size_t most = 60) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;  // inside a letter
  return text.substr(0, most);
}

}  // namespace pits
