#include "pits/data/benchmark.h"

#include <algorithm>

#include "pits/data/catalogue.h"
#include "pits/data/check.h"
#include "pits/data/csv.h"
#include "pits/data/npy.h"
#include "pits/data/shared.h"
#include "pits/data/words.h"

namespace pits {
namespace {

using enum ColumnKind;

std::vector<ColumnKind> columns(std::size_t count, ColumnKind kind) { return std::vector<ColumnKind>(count, kind); }

std::vector<ColumnKind> with(std::vector<ColumnKind> kinds, std::size_t column, ColumnKind kind) {
  kinds.at(column) = kind;
  return kinds;
}

// Hands the rows of a file to `sink`.
using ReadRows = std::function<Content(const std::string& path, const DataFile& file, const RowSink& sink)>;

Table build(const DataSet& set, const std::string& data_dir, std::vector<ColumnKind> kinds, const ReadRows& read) {
  TableBuilder builder(std::move(kinds));
  std::vector<Content> contents;
  for (const DataFile& file : set.files) {
    const RowSink add = [&](std::span<const std::string_view> fields, const Place& place) {
      builder.add(fields, place);
    };
    contents.push_back(read(find_data_file(set, file, data_dir).string(), file, add));
  }
  Table table = std::move(builder).finish();
  for (const Content& content : contents) {
    table.sha256 += (table.sha256.empty() ? "" : "+") + content.sha256;
    if (table.remark.empty()) table.remark = content.remark;
  }
  return table;
}

template <class Reader>
Content read_through(Reader& reader, const DataSet& set, const DataFile& file, const std::string& data_dir) {
  const Content content = read_data_file(set, file, data_dir, [&](std::string_view piece) { reader.feed(piece); });
  reader.finish();
  return content;
}

Table csv_table(const DataSet& set, const std::string& data_dir, std::vector<ColumnKind> kinds, CsvFormat format = {}) {
  return build(set, data_dir, std::move(kinds), [&](const std::string& path, const DataFile& file, const RowSink& add) {
    CsvReader reader(path, format, add);
    return read_through(reader, set, file, data_dir);
  });
}

Table word_table(const DataSet& set, const std::string& data_dir, std::vector<ColumnKind> kinds, std::size_t skip) {
  return build(set, data_dir, std::move(kinds), [&](const std::string& path, const DataFile& file, const RowSink& add) {
    WordReader reader(path, skip, add);
    return read_through(reader, set, file, data_dir);
  });
}

// Rows with '?' are dropped. adult.test begins with a line that is no row, and its income labels end with a dot that
// stays: 94 columns as in the papers, not 92.
Table adult(const DataSet& set, const std::string& data_dir) {
  std::vector<ColumnKind> kinds = columns(15, categorical);
  for (const std::size_t column : {0, 2, 4, 10, 11, 12}) kinds[column] = numeric;
  kinds[6] = label;  // occupation
  return build(set, data_dir, kinds, [&](const std::string& path, const DataFile& file, const RowSink& add) {
    const std::size_t skip = file.name == "adult.test" ? 1 : 0;
    CsvReader reader(path, {.skip_lines = skip}, [&](std::span<const std::string_view> fields, const Place& place) {
      if (std::ranges::find(fields, "?") == fields.end()) add(fields, place);
    });
    return read_through(reader, set, file, data_dir);
  });
}

Table jester(const DataSet& set, const std::string& data_dir) {
  const DataFile& file = set.files.front();
  const std::string path = find_data_file(set, file, data_dir).string();
  NpyReader reader(path);
  const Content content = read_data_file(set, file, data_dir, [&](std::string_view piece) { reader.feed(piece); });
  const Matrix<double> ratings = std::move(reader).finish();
  check_jester(path, ratings);
  Table table{.contexts = SparseRows(jester_jokes), .labels = {}, .classes = {}, .rewards = {}};
  for (std::size_t i = 0; i < ratings.rows(); ++i) {
    for (std::size_t j = 0; j < jester_jokes; ++j) {
      table.contexts.add(j, static_cast<float>(ratings(i, j)));
    }
    table.contexts.end_row();
  }
  table.contexts.shrink_to_fit();
  table.rewards.assign(ratings.flat().begin(), ratings.flat().end());
  table.reward_columns = jester_jokes;
  table.sha256 = content.sha256;
  table.remark = content.remark;
  return table;
}

std::shared_ptr<const Table> shared_set(const std::string& name, const std::string& data_dir,
                                        const std::function<Table(const DataSet&)>& load) {
  const DataSet& set = find_data_set(name);
  std::string key = name;
  for (const DataFile& file : set.files) key += '\n' + find_data_file(set, file, data_dir).string();
  return load_once<Table>(key, [&] { return load(set); });
}

}  // namespace

std::shared_ptr<const Table> statlog_table(const std::string& data_dir) {
  return shared_set("statlog", data_dir, [&](const DataSet& set) {
    return word_table(set, data_dir, with(columns(10, numeric), 9, label), 0);
  });
}

std::shared_ptr<const Table> covertype_table(const std::string& data_dir) {
  return shared_set("covertype", data_dir, [&](const DataSet& set) {
    return csv_table(set, data_dir, with(columns(55, numeric), 54, label));
  });
}

std::shared_ptr<const Table> adult_table(const std::string& data_dir) {
  return shared_set("adult", data_dir, [&](const DataSet& set) { return adult(set, data_dir); });
}

std::shared_ptr<const Table> census_table(const std::string& data_dir) {
  return shared_set("census", data_dir, [&](const DataSet& set) {
    // caseid first; dOccup is the 36th column
    return csv_table(set, data_dir, with(with(columns(69, categorical), 0, dropped), 35, label), {.skip_lines = 1});
  });
}

std::shared_ptr<const Table> mushroom_table(const std::string& data_dir) {
  return shared_set("mushroom", data_dir, [&](const DataSet& set) {
    return csv_table(set, data_dir, with(columns(23, categorical), 0, label));
  });
}

std::shared_ptr<const Table> financial_table(const std::string& data_dir) {
  return shared_set("financial", data_dir,
                    [&](const DataSet& set) { return word_table(set, data_dir, columns(21, numeric), 1); });
}

std::shared_ptr<const Table> jester_table(const std::string& data_dir) {
  return shared_set("jester", data_dir, [&](const DataSet& set) { return jester(set, data_dir); });
}

}  // namespace pits
