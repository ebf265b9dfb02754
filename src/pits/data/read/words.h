// Lines of fields separated by white space, piece by piece. Empty lines are left out.
#pragma once

#include <vector>

#include "pits/data/read/text_rows.h"

namespace pits {

class WordReader {
 public:
  // `file` names the source in messages; the first `skip_lines` lines are not rows.
  WordReader(std::string file, std::size_t skip_lines, RowSink sink)
      : file_(std::move(file)), skip_lines_(skip_lines), sink_(std::move(sink)) {}

  // Throws where a row has another number of fields than the first, with the line.
  void feed(std::string_view piece);
  void finish();

 private:
  void end_line(std::string_view text);

  std::string file_;
  std::size_t skip_lines_;
  RowSink sink_;
  std::string rest_;  // of a line whose end has not come yet
  std::size_t line_ = 1;
  std::vector<std::string_view> fields_;
  std::size_t width_ = 0;
};

}  // namespace pits
