// The reader of fields between white space, and of the numbers in them.
#include "pits/data/read/words.h"

#include "fuzz/rows_text.h"
#include "fuzz/target.h"

namespace pits::fuzz {

bool reads(std::string_view bytes) {
  return reads_in_any_pieces(bytes, [&](std::size_t piece) {
    std::string rows;
    const RowSink append = append_to(rows);
    WordReader reader("file", 1, [&](std::span<const std::string_view> fields, const Place& place) {
      for (std::size_t i = 0; i < fields.size(); ++i) rows += fmt::format("{} ", parse_number(fields[i], i, place));
      append(fields, place);
    });
    feed(reader, bytes, piece);
    reader.finish();
    return rows;
  });
}

}  // namespace pits::fuzz
