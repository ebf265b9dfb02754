// The data sets of the benchmark, one row each: where its files come from, what their bytes must be, what their columns
// hold, and how the problem is played.
#pragma once

#include "pits/core/matrix.h"
#include "pits/data/table.h"

namespace pits {

// A content that is accepted for a file.
struct Content {
  std::string sha256;  // of the unpacked bytes
  std::uint64_t bytes;
  std::string remark;  // what every table of results must say where this content is used; empty for the whole data set
};

// Accepts other contents than the listed ones. Throws an Error that names `where` they were read.
using ContentCheck = void (*)(std::string_view where, ConstMatrixView<double> content);

struct DataFile {
  std::string name;                     // as it is stored, unpacked: "covtype.data"
  std::vector<std::string> names = {};  // other names it may be found under: "mushroom.data"
  std::vector<std::string> addresses;   // public addresses, tried in order; the file there may be packed
  std::vector<Content> contents;        // accepted contents, the whole data set first
  std::size_t skip_lines = 0;           // lines before the first row
  ContentCheck check = nullptr;         // of a npy file: also accepts what passes this check
};

enum class FileFormat { csv, words, npy };  // words: fields between white space

// `count` neighbouring columns of one kind.
struct ColumnRun {
  ColumnKind kind;
  std::size_t count = 1;
};

// What the actions pay in a row.
enum class RewardRule {
  label,     // 1 for the row's class, 0 for every other action
  columns,   // the numbers in the reward columns, one per action
  linear,    // x·β_a plus noise; β is drawn once per realization
  mushroom,  // not eating 0; eating an edible one 5, a poisonous one -35 or 5 with probability ½ each
};

struct DataSet {
  std::string name;
  std::string summary;       // of the data
  std::string problem = {};  // of the bandit problem made of it
  std::vector<DataFile> files;
  FileFormat format = FileFormat::csv;
  std::vector<ColumnRun> columns = {};  // from left to right; a npy file needs none
  bool drop_incomplete = false;         // leave out rows that have a '?'
  RewardRule rewards = RewardRule::label;
  std::size_t context_columns = 0;  // of a npy file: so many random columns are the context, the others the rewards
  bool standardise = true;          // contexts to mean 0 and standard deviation 1, unless the user says otherwise
  std::string licence;
  std::string citation;
};

const std::vector<DataSet>& data_catalogue();
const DataSet& find_data_set(std::string_view name);

}  // namespace pits
