#include "pits/data/read/words.h"

namespace pits {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

}  // namespace

void WordReader::feed(std::string_view piece) {
  for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
    if (rest_.empty()) {
      end_line(piece.substr(0, end));
    } else {
      rest_ += piece.substr(0, end);
      end_line(rest_);
      rest_.clear();
    }
    piece.remove_prefix(end + 1);
  }
  rest_ += piece;
}

void WordReader::finish() {
  end_line(rest_);
  rest_.clear();
}

void WordReader::end_line(std::string_view text) {
  const Place place{file_, line_++};
  if (place.line <= skip_lines_) return;
  fields_.clear();
  for (std::size_t from = text.find_first_not_of(blanks); from != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, from), text.size());
    fields_.push_back(text.substr(from, end - from));
    from = text.find_first_not_of(blanks, end);
  }
  if (fields_.empty()) return;
  if (width_ == 0) width_ = fields_.size();
  if (fields_.size() != width_) throw place.wrong("{} numbers, not {}", fields_.size(), width_);
  sink_(fields_, place);
}

}  // namespace pits
