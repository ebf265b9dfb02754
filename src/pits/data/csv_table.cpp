#include "pits/data/csv_table.h"

#include <algorithm>
#include <filesystem>

#include "pits/data/bytes.h"
#include "pits/data/csv.h"
#include "pits/data/csv_survey.h"
#include "pits/data/shared.h"

namespace pits {
namespace {

using Kinds = std::vector<ColumnKind>;

bool is_whole_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// What the config says of the columns that are neither label nor reward.
void assign_kinds(const CsvTableConfig& config, const CsvSurvey& survey, Kinds& kinds) {
  const bool automatic = config.categorical == "auto";
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != ColumnKind::numeric) continue;
    if (automatic && survey.numeric[i] == 0) kinds[i] = ColumnKind::categorical;
  }
  const auto mark = [&](std::string_view names, ColumnKind kind) {
    for (const std::size_t i : survey.columns(names)) {
      if (kinds[i] == ColumnKind::label || kinds[i] == ColumnKind::reward) {
        throw bad_input("column '{}' of '{}' is a label or a reward, so it cannot be dropped or categorical",
                        survey.names[i], survey.file);
      }
      kinds[i] = kind;
    }
  };
  if (!automatic) mark(config.categorical, ColumnKind::categorical);
  mark(config.drop, ColumnKind::dropped);
  const auto is_context = [](ColumnKind k) { return k == ColumnKind::numeric || k == ColumnKind::categorical; };
  if (std::ranges::none_of(kinds, is_context)) throw bad_input("'{}' has no column for the context", survey.file);
}

// Missing values become the empty level; a number, a class or a reward must be there.
class RowCleaner {
 public:
  RowCleaner(const CsvTableConfig& config, const CsvSurvey& survey, const Kinds& kinds)
      : config_(config), survey_(survey), kinds_(kinds) {}

  std::span<const std::string_view> operator()(std::span<const std::string_view> fields, const Place& place) {
    cleaned_.assign(fields.begin(), fields.end());
    for (std::size_t i = 0; i < cleaned_.size(); ++i) {
      if (kinds_[i] == ColumnKind::dropped || !is_missing(cleaned_[i])) continue;
      if (kinds_[i] != ColumnKind::categorical || config_.missing == Missing::reject) {
        throw place.wrong(
            "column '{}' has no value ('{}'){}", survey_.names[i], cleaned_[i],
            kinds_[i] == ColumnKind::numeric ? "; fill it in, drop the column or make it categorical" : "");
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

Table build(const CsvTableConfig& config, const CsvSurvey& survey, const Kinds& kinds) {
  TableBuilder builder(kinds);
  RowCleaner clean(config, survey, kinds);
  bool header = survey.has_header;
  CsvReader reader(config.file, {.delimiter = survey.delimiter},
                   [&](std::span<const std::string_view> fields, const Place& place) {
                     if (!std::exchange(header, false)) builder.add(clean(fields, place), place);
                   });
  const Digest digest = read_unpacked(config.file, [&](std::string_view piece) { reader.feed(piece); });
  reader.finish();
  Table table = std::move(builder).finish();
  table.sha256 = digest.sha256;
  return table;
}

Table load_labelled(const CsvTableConfig& config, const std::string& label) {
  const CsvSurvey survey = survey_csv(config, !is_whole_number(label));
  Kinds kinds(survey.names.size(), ColumnKind::numeric);
  const std::size_t column = survey.column(label);
  kinds[column] = ColumnKind::label;
  assign_kinds(config, survey, kinds);
  Table table = build(config, survey, kinds);
  if (table.classes.size() < 2) {
    throw bad_input("'{}': the label '{}' has one class only, '{}'", config.file, survey.names[column],
                    table.classes.front());
  }
  return table;
}

Table load_rewards(const CsvTableConfig& config, std::size_t actions) {
  const CsvSurvey survey = survey_csv(config, actions == 0);
  const std::size_t columns = survey.names.size();
  Kinds kinds(columns, ColumnKind::numeric);
  std::size_t found = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    if (actions > 0 ? i + actions < columns : !survey.names[i].starts_with("reward_")) continue;
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
  return build(config, survey, kinds);
}

void check_file(const CsvTableConfig& config, std::string_view problem) {
  if (config.file.empty()) throw bad_input("no file given: {}:FILE", problem);
}

std::shared_ptr<const Table> shared_csv(CsvTableConfig config, const std::string& what,
                                        const std::function<Table()>& load) {
  std::string key = std::filesystem::absolute(config.file).string() + '\n' + what;
  for (const Field& field : fields(config).list()) key += '\n' + field.name + '=' + field.get();
  return load_once<Table>(key, load);
}

}  // namespace

const std::vector<std::string>& EnumNames<Header>::names() {
  static const std::vector<std::string> names = {"auto", "yes", "no"};
  return names;
}
const std::vector<std::string>& EnumNames<Missing>::names() {
  static const std::vector<std::string> names = {"level", "reject"};
  return names;
}
const std::vector<std::string>& EnumNames<Delimiter>::names() {
  static const std::vector<std::string> names = {"auto", "comma", "semicolon", "tab"};
  return names;
}

Fields fields(CsvTableConfig& c) {
  return Fields{}
      .add("file", c.file, "the CSV file, plain or packed as gz, xz or zip")
      .add("categorical", c.categorical, "columns to one-hot: auto (what is not numbers), none, or names joined by +")
      .add("drop", c.drop, "columns to leave out: none, or names joined by +")
      .add("missing", c.missing, "an empty field, ? or NA in a categorical column: a level of its own, or reject")
      .add("header", c.header, "whether the first row names the columns: auto, yes or no")
      .add("delimiter", c.delimiter, "auto, comma, semicolon or tab");
}

std::shared_ptr<const Table> labelled_csv_table(const CsvTableConfig& config, const std::string& label) {
  check_file(config, "csv");
  if (label.empty())
    throw bad_input("no label given for '{}': --label COLUMN, its name or its number from 1", config.file);
  return shared_csv(config, "csv " + label, [&] { return load_labelled(config, label); });
}

std::shared_ptr<const Table> rewards_csv_table(const CsvTableConfig& config, std::size_t actions) {
  check_file(config, "rewards");
  return shared_csv(config, fmt::format("rewards {}", actions), [&] { return load_rewards(config, actions); });
}

}  // namespace pits
