#include "pits/data/read/csv_survey.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "pits/data/read/csv.h"

namespace pits {
namespace {

constexpr std::string_view line_ends = "\r\n";
constexpr std::size_t longest_first_line = 16'000'000;

// The first line that is not empty.
std::string_view first_line(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(line_ends), text.size()));
  return text.substr(0, text.find_first_of(line_ends));
}

// The most frequent of comma, semicolon and tab in the first line, outside quotes; the comma where none is there.
char frequent_delimiter(std::string_view line) {
  constexpr std::string_view candidates = ",;\t";
  std::size_t counts[3] = {0, 0, 0};
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    const std::size_t i = candidates.find(c);
    if (!quoted && i != std::string_view::npos) ++counts[i];
  }
  return candidates[static_cast<std::size_t>(std::ranges::max_element(counts) - counts)];
}

char delimiter_of(Delimiter wanted, std::string_view line) {
  switch (wanted) {
    case Delimiter::comma: return ',';
    case Delimiter::semicolon: return ';';
    case Delimiter::tab: return '\t';
    case Delimiter::automatic: break;
  }
  return frequent_delimiter(line);
}

// Digits with a decimal comma or thousands separators.
bool has_comma(std::string_view field) {
  return field.find(',') != std::string_view::npos && field.find_first_of("0123456789") != std::string_view::npos &&
         field.find_first_not_of("0123456789+-., '") == std::string_view::npos;
}

// Text of other encodings than UTF-8 has NUL bytes, since any table has ASCII characters; most begins with a mark.
void check_encoding(std::string_view file, std::string_view start) {
  using namespace std::string_view_literals;
  const bool utf32 = start.starts_with("\xFF\xFE\0\0"sv) || start.starts_with("\0\0\xFE\xFF"sv);
  const bool utf16 = start.starts_with("\xFF\xFE"sv) || start.starts_with("\xFE\xFF"sv);
  if (!utf16 && !utf32 && start.find('\0') == std::string_view::npos) return;
  throw bad_input("'{}' is {}; convert it to UTF-8, e.g. with iconv", file,
                  utf32   ? "UTF-32"
                  : utf16 ? "UTF-16"
                          : "not text, or UTF-16 or UTF-32: its first line has NUL bytes");
}

// Counts the fields of rows as they come; the first row is held back until the second tells whether it is a header.
class Surveyor {
 public:
  explicit Surveyor(const CsvTableConfig& config) : config_(config) { survey_.file = config.file; }

  void feed(std::string_view piece) {
    if (reader_) return reader_->feed(piece);
    const std::size_t searched = start_.size();
    start_ += piece;
    if (first_line_ == std::string::npos) first_line_ = start_.find_first_not_of(line_ends, searched);
    const std::size_t from = std::max(searched, first_line_);
    if (first_line_ != std::string::npos && start_.find_first_of(line_ends, from) != std::string::npos) {
      make_reader();
    } else if (start_.size() > longest_first_line) {
      throw bad_input("'{}' is not a CSV file: its first line has more than {} MB", config_.file,
                      longest_first_line / 1'000'000);
    }
  }

  CsvSurvey finish(Digest digest) && {
    if (!reader_) make_reader();
    reader_->finish();
    if (survey_.columns.empty() && !first_.empty()) settle_first({});
    if (survey_.rows == 0) throw bad_input("'{}' has no rows", config_.file);
    survey_.digest = std::move(digest);
    return std::move(survey_);
  }

 private:
  void make_reader() {
    check_encoding(config_.file, first_line(start_));
    survey_.delimiter = delimiter_of(config_.delimiter, first_line(start_));
    reader_.emplace(config_.file, CsvFormat{.delimiter = survey_.delimiter},
                    [this](std::span<const std::string_view> fields, const Place& place) { add(fields, place.line); });
    reader_->feed(std::exchange(start_, {}));
  }

  void add(std::span<const std::string_view> fields, std::size_t line) {
    if (first_.empty()) {
      first_.assign(fields.begin(), fields.end());
      survey_.first_line = line;
      return;
    }
    if (survey_.columns.empty()) settle_first(fields);
    count(fields, line);
  }

  // A header has no number, and stands above one; otherwise nothing tells it from a row of words.
  void settle_first(std::span<const std::string_view> second) {
    survey_.has_header = config_.header == Header::yes;
    if (config_.header == Header::automatic) {
      const auto number = [](std::string_view field) { return is_number(field); };
      survey_.has_header = std::ranges::none_of(first_, number) && std::ranges::any_of(second, number);
    }
    std::set<std::string> distinct;
    for (std::size_t i = 0; i < first_.size(); ++i) {
      survey_.columns.push_back({.name = survey_.has_header ? first_[i] : fmt::format("{}", i + 1)});
      const std::string& name = survey_.columns.back().name;
      if (!distinct.insert(name).second) {
        throw bad_input("'{}': two columns are called {}", config_.file, in_quotes(name));
      }
    }
    if (!survey_.has_header) count(std::vector<std::string_view>(first_.begin(), first_.end()), survey_.first_line);
  }

  void count(std::span<const std::string_view> fields, std::size_t line) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      CsvColumn& column = survey_.columns[i];
      if (is_missing(fields[i])) continue;
      if (looks_like_number(fields[i])) {
        ++column.numbers;
        continue;
      }
      const bool comma = has_comma(fields[i]);
      if (column.numeric()) {
        column.odd = in_quotes(fields[i]);
        column.odd_comma = comma;
        column.odd_line = line;
      }
      ++(comma ? column.commas : column.words);
    }
    ++survey_.rows;
  }

  const CsvTableConfig& config_;
  std::string start_;                           // until the first line is whole
  std::size_t first_line_ = std::string::npos;  // where it begins in start_, after empty lines
  std::optional<CsvReader> reader_;
  std::vector<std::string> first_;
  CsvSurvey survey_;
};

}  // namespace

bool is_missing(std::string_view field) { return field.empty() || field == "?" || field == "NA"; }

std::size_t CsvSurvey::column(std::string_view name) const {
  const auto named = std::ranges::find(columns, name, &CsvColumn::name);
  if (named != columns.end()) return static_cast<std::size_t>(named - columns.begin());
  std::size_t number = 0;
  const auto [stop, status] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (status == std::errc{} && stop == name.data() + name.size() && number >= 1 && number <= columns.size()) {
    return number - 1;
  }
  if (!has_header) {
    throw bad_input("'{}' has no header and no column {}: it has columns 1 to {}", file, name, columns.size());
  }
  std::vector<std::string> names;
  for (const CsvColumn& column : columns) names.push_back(column.name);
  throw bad_input("'{}': {}", file, unknown_name("column", name, names).what());
}

CsvSurvey survey_csv(const CsvTableConfig& config) {
  const std::filesystem::path path = config.file;
  if (std::filesystem::exists(path) && !std::filesystem::is_directory(path) &&
      !std::filesystem::is_regular_file(path)) {
    throw bad_input("'{}' is a pipe or a device, which cannot be read twice; save it to a file first", config.file);
  }
  Surveyor surveyor(config);
  Digest digest = read_unpacked(path, [&](std::string_view piece) { surveyor.feed(piece); });
  return std::move(surveyor).finish(std::move(digest));
}

}  // namespace pits
