#include "pits/data/csv_survey.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "pits/data/bytes.h"
#include "pits/data/csv.h"

namespace pits {
namespace {

constexpr std::string_view line_ends = "\r\n";

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

// A number that is out of range or not finite is a mistake in a column of numbers, not the name of a category.
bool written_as_number(std::string_view field) {
  double value = 0.0;
  const auto [stop, status] = std::from_chars(field.data(), field.data() + field.size(), value);
  return is_number(field) || (status != std::errc::invalid_argument && stop == field.data() + field.size());
}

// Looks at the rows as they come; the first is held back until the second tells whether it is a header.
class Surveyor {
 public:
  Surveyor(const CsvTableConfig& config, bool needs_names) : config_(config), needs_names_(needs_names) {
    survey_.file = config.file;
  }

  void feed(std::string_view piece) {
    if (reader_) return reader_->feed(piece);
    start_ += piece;
    const std::size_t first = start_.find_first_not_of(line_ends);
    if (start_.find_first_of(line_ends, first) != std::string::npos) make_reader();
  }

  CsvSurvey finish() && {
    if (!reader_) make_reader();
    reader_->finish();
    if (survey_.numeric.empty() && !first_.empty()) settle_first({});
    if (survey_.rows == 0) throw bad_input("'{}' has no rows", config_.file);
    return std::move(survey_);
  }

 private:
  void make_reader() {
    survey_.delimiter = delimiter_of(config_.delimiter, first_line(start_));
    reader_.emplace(config_.file, CsvFormat{.delimiter = survey_.delimiter},
                    [this](std::span<const std::string_view> fields, const Place&) { add(fields); });
    reader_->feed(std::exchange(start_, {}));
  }

  void add(std::span<const std::string_view> fields) {
    if (first_.empty()) {
      first_.assign(fields.begin(), fields.end());
      return;
    }
    if (survey_.numeric.empty()) settle_first(fields);
    look_at(fields);
  }

  // A header has no number, and stands above one; without names to go by, nothing tells it from a row of words.
  void settle_first(std::span<const std::string_view> second) {
    survey_.has_header = config_.header == Header::yes;
    if (config_.header == Header::automatic) {
      const auto number = [](std::string_view field) { return is_number(field); };
      survey_.has_header =
          needs_names_ || (std::ranges::none_of(first_, number) && std::ranges::any_of(second, number));
    }
    survey_.numeric.assign(first_.size(), 1);
    for (std::size_t i = 0; i < first_.size(); ++i) {
      survey_.names.push_back(survey_.has_header ? first_[i] : fmt::format("{}", i + 1));
    }
    std::set<std::string> distinct;
    for (const std::string& name : survey_.names) {
      if (!distinct.insert(name).second) throw bad_input("'{}': two columns are called '{}'", config_.file, name);
    }
    if (!survey_.has_header) look_at(std::vector<std::string_view>(first_.begin(), first_.end()));
  }

  void look_at(std::span<const std::string_view> fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (survey_.numeric[i] != 0 && !is_missing(fields[i]) && !written_as_number(fields[i])) survey_.numeric[i] = 0;
    }
    ++survey_.rows;
  }

  const CsvTableConfig& config_;
  bool needs_names_;
  std::string start_;  // until the first line is whole
  std::optional<CsvReader> reader_;
  std::vector<std::string> first_;
  CsvSurvey survey_;
};

}  // namespace

bool is_missing(std::string_view field) { return field.empty() || field == "?" || field == "NA"; }

std::size_t CsvSurvey::column(std::string_view name) const {
  const auto named = std::ranges::find(names, name);
  if (named != names.end()) return static_cast<std::size_t>(named - names.begin());
  std::size_t number = 0;
  const auto [stop, status] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (status == std::errc{} && stop == name.data() + name.size() && number >= 1 && number <= names.size()) {
    return number - 1;
  }
  if (!has_header)
    throw bad_input("'{}' has no header and no column {}: it has columns 1 to {}", file, name, names.size());
  throw bad_input("'{}': {}", file, unknown_name("column", name, names).what());
}

std::vector<std::size_t> CsvSurvey::columns(std::string_view joined) const {
  std::vector<std::size_t> found;
  if (joined.empty() || joined == "none") return found;
  for (std::size_t start = 0; start <= joined.size();) {
    const std::size_t end = std::min(joined.find('+', start), joined.size());
    found.push_back(column(joined.substr(start, end - start)));
    start = end + 1;
  }
  return found;
}

CsvSurvey survey_csv(const CsvTableConfig& config, bool needs_names) {
  Surveyor surveyor(config, needs_names);
  read_unpacked(config.file, [&](std::string_view piece) { surveyor.feed(piece); });
  return std::move(surveyor).finish();
}

}  // namespace pits
