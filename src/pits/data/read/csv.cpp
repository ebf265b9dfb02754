#include "pits/data/read/csv.h"

#include <csv.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace pits {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

struct CsvReader::Parser {
  explicit Parser(char delimiter) {
    if (csv_init(&state, CSV_STRICT | CSV_STRICT_FINI) != 0) throw failed("libcsv cannot start");
    csv_set_delim(&state, static_cast<unsigned char>(delimiter));
  }
  ~Parser() { csv_free(&state); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  static void on_field(void* data, std::size_t size, void* reader) {
    auto& r = *static_cast<CsvReader*>(reader);
    r.text_.append(static_cast<const char*>(data), size);
    r.ends_.push_back(r.text_.size());
  }
  static void on_row(int, void* reader) {
    auto& r = *static_cast<CsvReader*>(reader);
    try {
      if (!r.complaint_) r.end_row();
    } catch (...) {
      r.complaint_ = std::current_exception();
    }
    r.text_.clear();
    r.ends_.clear();
    r.inside_row_ = false;
  }

  csv_parser state{};
};

CsvReader::CsvReader(std::string file, CsvFormat format, RowSink sink)
    : file_(std::move(file)),
      format_(format),
      sink_(std::move(sink)),
      parser_(std::make_unique<Parser>(format.delimiter)) {}

CsvReader::~CsvReader() = default;

void CsvReader::feed(std::string_view piece) {
  if (!started_) {
    start_ += piece;
    if (start_.size() < byte_order_mark.size()) return;
    started_ = true;
    const std::string start = std::move(start_);
    feed(std::string_view(start).substr(start.starts_with(byte_order_mark) ? byte_order_mark.size() : 0));
    return;
  }
  while (!piece.empty()) {
    const std::size_t line = piece.find('\n');  // libcsv ends rows at both
    const std::size_t end = std::min({piece.substr(0, line).find('\r'), line, piece.size() - 1}) + 1;
    feed_line(piece.substr(0, end));
    piece.remove_prefix(end);
  }
}

void CsvReader::feed_line(std::string_view part) {
  const bool skipped = line_ <= format_.skip_lines;
  if (!skipped) {
    if (!inside_row_) row_line_ = line_;
    inside_row_ = inside_row_ || part.find_first_not_of(" \t\r\n") != std::string_view::npos;
    const std::size_t used =
        csv_parse(&parser_->state, part.data(), part.size(), &Parser::on_field, &Parser::on_row, this);
    if (complaint_) std::rethrow_exception(complaint_);
    if (used != part.size()) {
      throw Place{file_, line_}.wrong("{}", csv_error(&parser_->state) == CSV_EPARSE
                                                ? "a quote in the wrong place; inside quotes it is written twice"
                                                : csv_strerror(csv_error(&parser_->state)));
    }
  }
  if (part.ends_with('\n')) ++line_;
}

void CsvReader::finish() {
  if (!started_) {
    started_ = true;
    feed(std::exchange(start_, {}));
  }
  const int status = csv_fini(&parser_->state, &Parser::on_field, &Parser::on_row, this);
  if (complaint_) std::rethrow_exception(complaint_);
  if (status != 0) throw place().wrong("the row that begins here has a quote without its end");
}

void CsvReader::end_row() {
  fields_.clear();
  std::size_t from = 0;
  for (const std::size_t end : ends_) {
    fields_.push_back(std::string_view(text_).substr(from, end - from));
    from = end;
  }
  if (width_ == 0) {
    width_ = fields_.size();
    first_line_ = row_line_;
  }
  if (fields_.size() != width_) {
    throw place().wrong("{} fields, but {} in line {}", fields_.size(), width_, first_line_);
  }
  sink_(fields_, place());
}

}  // namespace pits
