// Comma-separated values (RFC 4180) by libcsv, piece by piece: quotes, newlines inside quotes, LF or CRLF, a byte order
// mark. Blanks around unquoted fields are left out, and so are empty lines.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "pits/data/read/text_rows.h"

namespace pits {

struct CsvFormat {
  char delimiter = ',';
  std::size_t skip_lines = 0;  // of text before the first row
};

class CsvReader {
 public:
  // `file` names the source in messages.
  CsvReader(std::string file, CsvFormat format, RowSink sink);
  ~CsvReader();
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  // Throws where quotes are malformed or a row has another number of fields than the first, with the line.
  void feed(std::string_view piece);
  void finish();

 private:
  struct Parser;

  void feed_line(std::string_view part);  // at most one line, with its CR or LF if it has ended
  void end_row();
  Place place() const { return {file_, row_line_}; }

  std::string file_;
  CsvFormat format_;
  RowSink sink_;
  std::unique_ptr<Parser> parser_;
  std::string start_;  // the first bytes, until it is known whether they are a byte order mark
  bool started_ = false;
  std::size_t line_ = 1;
  std::size_t row_line_ = 1;  // where the current row begins
  bool inside_row_ = false;
  std::string text_;  // the fields of the current row, one behind the other
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> fields_;
  std::size_t width_ = 0;  // fields of the first row
  std::size_t first_line_ = 0;
  std::exception_ptr complaint_;  // must not pass through libcsv's C frames
};

}  // namespace pits
