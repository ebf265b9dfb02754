#include "pits/data/read/csv_table.h"

#include <algorithm>
#include <ranges>

#include "pits/data/read/bytes.h"
#include "pits/data/read/csv.h"
#include "pits/data/read/csv_survey.h"
#include "pits/data/shared.h"

namespace pits {
namespace {

using Kinds = std::vector<ColumnKind>;

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The columns of names joined by +; "none" and "" are none.
std::vector<std::size_t> columns_of(const CsvSurvey& survey, std::string_view joined) {
  std::vector<std::size_t> found;
  if (joined.empty() || joined == "none") return found;
  for (std::size_t start = 0; start <= joined.size();) {
    const std::size_t end = std::min(joined.find('+', start), joined.size());
    found.push_back(survey.column(joined.substr(start, end - start)));
    start = end + 1;
  }
  return found;
}

// A column of numbers would become hundreds of one-hot columns for the sake of one field.
Error odd_field(const CsvSurvey& survey, const CsvColumn& column) {
  const Place place{survey.file, column.odd_line};
  const bool maybe_header = !survey.has_header && column.odd_line == survey.first_line;
  const std::string choice = fmt::format("{0}or drop={1}, or categorical=auto+{1} to make it a category",
                                         maybe_header ? "or header=yes, " : "", column.name);
  if (column.odd_comma) {
    return place.wrong("{} in column '{}' has a comma; write 43.5 for 43,5 and 1234 for 1,234, {}", column.odd,
                       column.name, choice);
  }
  return place.wrong("{} in column '{}', where {} of {} fields are numbers; correct it, {}", column.odd, column.name,
                     column.numbers, column.numbers + column.commas + column.words, choice);
}

// What the config says of the columns that are neither label nor reward.
void assign_kinds(const CsvTableConfig& config, const CsvSurvey& survey, Kinds& kinds) {
  const auto mark = [&](std::string_view names, ColumnKind kind) {
    for (const std::size_t i : columns_of(survey, names)) {
      if (kinds[i] == ColumnKind::label || kinds[i] == ColumnKind::reward) {
        throw bad_input("column '{}' of '{}' is a label or a reward, so it cannot be dropped or categorical",
                        survey.columns[i].name, survey.file);
      }
      kinds[i] = kind;
    }
  };
  constexpr std::string_view automatic = "auto";
  const bool finds_categories = config.categorical == automatic || config.categorical.starts_with("auto+");
  const std::size_t skipped = finds_categories ? std::min(automatic.size() + 1, config.categorical.size()) : 0;
  mark(std::string_view(config.categorical).substr(skipped), ColumnKind::categorical);
  mark(config.drop, ColumnKind::dropped);
  for (std::size_t i = 0; finds_categories && i < kinds.size(); ++i) {
    if (kinds[i] != ColumnKind::numeric || survey.columns[i].numeric()) continue;
    if (survey.columns[i].mostly_numbers()) throw odd_field(survey, survey.columns[i]);
    kinds[i] = ColumnKind::categorical;
  }
  const auto is_context = [](ColumnKind k) { return k == ColumnKind::numeric || k == ColumnKind::categorical; };
  if (std::ranges::none_of(kinds, is_context)) throw bad_input("'{}' has no column for the context", survey.file);
}

// Missing values become the empty level; a number, a class or a reward must be there.
class RowCleaner {
 public:
  RowCleaner(const CsvTableConfig& config, const CsvSurvey& survey, const Kinds& kinds)
      : config_(config), survey_(survey), kinds_(kinds) {}

  std::span<const std::string_view> operator()(std::span<const std::string_view> fields, const Place& place) {
    if (fields.size() != kinds_.size()) throw place.wrong("{} fields, not {}", fields.size(), kinds_.size());
    cleaned_.assign(fields.begin(), fields.end());
    for (std::size_t i = 0; i < cleaned_.size(); ++i) {
      if (kinds_[i] == ColumnKind::dropped || !is_missing(cleaned_[i])) continue;
      if (kinds_[i] != ColumnKind::categorical || config_.missing == Missing::reject) {
        throw place.wrong("column '{}' has no value ('{}'){}", survey_.columns[i].name, cleaned_[i],
                          kinds_[i] == ColumnKind::numeric
                              ? "; fill in the median, say, and add a column that says where, or drop the column"
                              : "");
      }
      cleaned_[i] = {};
    }
    return cleaned_;
  }

 private:
  const CsvTableConfig& config_;
  const CsvSurvey& survey_;
  const Kinds& kinds_;
  std::vector<std::string_view> cleaned_;
};

// "one-hot columns: 'city' (41 levels), 'colour' (2 levels)", the columns with the most levels first.
std::string one_hot_remark(const CsvSurvey& survey, std::vector<OneHot> columns) {
  constexpr std::size_t most_named = 8;
  if (columns.empty()) return {};
  std::ranges::stable_sort(columns, std::ranges::greater{}, &OneHot::levels);
  std::vector<std::string> parts;
  for (const OneHot& c : columns | std::views::take(most_named)) {
    parts.push_back(fmt::format("{} ({} {})", in_quotes(survey.columns[c.column].name), c.levels,
                                c.levels == 1 ? "level" : "levels"));
  }
  if (columns.size() > most_named) parts.push_back(fmt::format("and {} more", columns.size() - most_named));
  return fmt::format("one-hot columns: {}", fmt::join(parts, ", "));
}

// Columns that are asked for by name need a header.
CsvTableConfig with_names(CsvTableConfig config) {
  if (config.header == Header::automatic) config.header = Header::yes;
  return config;
}

// The same content read in the same way gives the same table.
std::shared_ptr<const Table> shared_csv(CsvTableConfig config, const CsvSurvey& survey, const Kinds& kinds) {
  std::string key = fmt::format("{} {}", survey.digest.sha256, survey.has_header);
  for (const Field& field : fields(config).list()) key += '\n' + field.name + '=' + field.get();
  for (const ColumnKind kind : kinds) key += static_cast<char>('0' + static_cast<int>(kind));
  return load_once<Table>(key, [&] { return read_csv_table(config, survey, kinds); });
}

void check_file(const CsvTableConfig& config, std::string_view problem) {
  if (config.file.empty()) throw bad_input("no file given: {}:FILE", problem);
}

}  // namespace

Fields fields(CsvTableConfig& c) {
  return Fields{}
      .add("file", c.file, "the CSV file, plain or packed as gz, xz or zip")
      .add("categorical", c.categorical,
           "columns to one-hot: auto (what is not numbers), auto+NAME, none, or names joined by +")
      .add("drop", c.drop, "columns to leave out: none, or names joined by +")
      .add("missing", c.missing, "an empty field, ? or NA in a categorical column: a level of its own, or reject")
      .add("header", c.header, "whether the first row names the columns: auto, yes or no")
      .add("delimiter", c.delimiter, "auto, comma, semicolon or tab");
}

Table read_csv_table(const CsvTableConfig& config, const CsvSurvey& survey, const Kinds& kinds) {
  std::vector<std::string> names;
  for (const CsvColumn& column : survey.columns) names.push_back(column.name);
  TableBuilder builder(kinds, std::move(names));
  RowCleaner clean(config, survey, kinds);
  bool header = survey.has_header;
  CsvReader reader(config.file, {.delimiter = survey.delimiter},
                   [&](std::span<const std::string_view> fields, const Place& place) {
                     if (!std::exchange(header, false)) builder.add(clean(fields, place), place);
                   });
  const Digest digest = read_unpacked(config.file, [&](std::string_view piece) { reader.feed(piece); });
  reader.finish();
  if (digest.sha256 != survey.digest.sha256) throw bad_input("'{}' was changed while it was read", config.file);
  Table table = std::move(builder).finish();
  table.sha256 = digest.sha256;
  table.remark = one_hot_remark(survey, table.one_hot);
  return table;
}

std::shared_ptr<const Table> labelled_csv_table(const CsvTableConfig& config, const std::string& label) {
  check_file(config, "csv");
  if (label.empty())
    throw bad_input("no label given for '{}': --label COLUMN, its name or its number from 1", config.file);
  const CsvSurvey survey = survey_csv(is_whole_number(label) ? config : with_names(config));
  Kinds kinds(survey.columns.size(), ColumnKind::numeric);
  const std::size_t column = survey.column(label);
  kinds[column] = ColumnKind::label;
  assign_kinds(config, survey, kinds);
  auto table = shared_csv(config, survey, kinds);
  if (table->classes.size() < 2) {
    throw bad_input("'{}': the label '{}' has one class only, {}", config.file, survey.columns[column].name,
                    in_quotes(table->classes.front()));
  }
  return table;
}

std::shared_ptr<const Table> rewards_csv_table(const CsvTableConfig& config, std::size_t actions) {
  check_file(config, "rewards");
  const CsvSurvey survey = survey_csv(actions > 0 ? config : with_names(config));
  const std::size_t columns = survey.columns.size();
  Kinds kinds(columns, ColumnKind::numeric);
  std::size_t found = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    if (actions > 0 ? i + actions < columns : !survey.columns[i].name.starts_with("reward_")) continue;
    kinds[i] = ColumnKind::reward;
    ++found;
  }
  if (actions > 0 && (found < 2 || found < actions)) {
    throw bad_input("'{}' has {} columns: actions must be from 2 to {}, not {}", config.file, columns, columns,
                    actions);
  }
  if (found < 2) {
    throw bad_input("'{}' has {} of {} columns with rewards; name at least 2 reward_* or give actions=K", config.file,
                    found, columns);
  }
  assign_kinds(config, survey, kinds);
  return shared_csv(config, survey, kinds);
}

}  // namespace pits
