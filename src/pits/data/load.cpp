#include "pits/data/load.h"

#include <algorithm>

#include "pits/core/io/npy.h"
#include "pits/data/read/csv.h"
#include "pits/data/read/words.h"
#include "pits/data/shared.h"
#include "pits/data/source/check.h"
#include "pits/data/source/locate.h"

namespace pits {
namespace {

using Paths = std::vector<std::filesystem::path>;  // of each file of the set

std::vector<ColumnKind> kinds_of(const DataSet& set) {
  std::vector<ColumnKind> kinds;
  for (const ColumnRun& run : set.columns) kinds.insert(kinds.end(), run.count, run.kind);
  return kinds;
}

Content read_rows(FileFormat format, const DataFile& file, const std::string& path, const RowSink& add) {
  const auto through = [&](auto& reader) {
    const Content content = read_data_file(file, path, path, [&](std::string_view piece) { reader.feed(piece); });
    reader.finish();
    return content;
  };
  if (format == FileFormat::words) {
    WordReader reader(path, file.skip_lines, add);
    return through(reader);
  }
  CsvReader reader(path, {.skip_lines = file.skip_lines}, add);
  return through(reader);
}

Table load_rows(const DataSet& set, const Paths& paths) {
  TableBuilder builder(kinds_of(set));
  std::string sha256, remark;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Content content = read_rows(set.format, set.files[i], paths[i].string(),
                                      [&](std::span<const std::string_view> fields, const Place& place) {
                                        const bool incomplete = std::ranges::find(fields, "?") != fields.end();
                                        if (!set.drop_incomplete || !incomplete) builder.add(fields, place);
                                      });
    sha256 += (i > 0 ? "+" : "") + content.sha256;
    if (remark.empty()) remark = content.remark;
  }
  Table table = std::move(builder).finish();
  table.sha256 = sha256;
  table.remark = remark;
  return table;
}

// All columns as contexts and as rewards: a realization decides which column is which.
Table load_matrix(const DataSet& set, const std::string& path) {
  NpyReader reader(path);
  const Content content =
      read_data_file(set.files.front(), path, path, [&](std::string_view piece) { reader.feed(piece); });
  const Matrix<double> numbers = std::move(reader).finish();
  Table table{.contexts = SparseRows(numbers.cols()), .labels = {}, .classes = {}, .rewards = {}};
  for (std::size_t i = 0; i < numbers.rows(); ++i) {
    for (std::size_t j = 0; j < numbers.cols(); ++j) table.contexts.add(j, static_cast<float>(numbers(i, j)));
    table.contexts.end_row();
  }
  table.contexts.shrink_to_fit();
  table.rewards.assign(numbers.flat().begin(), numbers.flat().end());
  table.reward_columns = numbers.cols();
  table.sha256 = content.sha256;
  table.remark = content.remark;
  return table;
}

}  // namespace

std::shared_ptr<const Table> load_table(const DataSet& set, const std::string& data_dir) {
  Paths paths;
  std::string key = set.name;
  for (const DataFile& file : set.files) {
    paths.push_back(find_data_file(set, file, data_dir));
    key += '\n' + paths.back().string();
  }
  return load_once<Table>(key, [&] {
    return set.format == FileFormat::npy ? load_matrix(set, paths.front().string()) : load_rows(set, paths);
  });
}

}  // namespace pits
