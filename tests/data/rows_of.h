// What a reader makes of a text, fed in pieces of any size.
#pragma once

#include <string>
#include <vector>

#include "pits/data/read/text_rows.h"

namespace pits::test {

struct TextRow {
  std::vector<std::string> fields;
  std::size_t line;
  bool operator==(const TextRow&) const = default;
};

inline RowSink into(std::vector<TextRow>& rows) {
  return [&rows](std::span<const std::string_view> fields, const Place& place) {
    rows.push_back({{fields.begin(), fields.end()}, place.line});
  };
}

template <class Reader>
void feed_in_pieces(Reader& reader, std::string_view text, std::size_t piece) {
  for (std::size_t i = 0; i < text.size(); i += piece) reader.feed(text.substr(i, piece));
}

}  // namespace pits::test
