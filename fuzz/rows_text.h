// Rows of fields as one text: different rows, different texts.
#pragma once

#include "pits/data/read/text_rows.h"

namespace pits::fuzz {

inline RowSink append_to(std::string& text) {
  return [&text](std::span<const std::string_view> fields, const Place& place) {
    text += fmt::format("line {}:", place.line);
    for (const std::string_view field : fields) text += fmt::format(" {}:{}", field.size(), field);
    text += '\n';
  };
}

}  // namespace pits::fuzz
