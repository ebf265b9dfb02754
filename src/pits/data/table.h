// From rows of text to contexts and classes or rewards.
//
// A table finds its schema (schema/schema.h), which encodes its rows: numeric columns first, then categorical ones,
// each as one column per level. Levels are sorted (by number where all are numbers), so that nothing depends on the
// order of the rows; an empty field of a categorical column is missing.
#pragma once

#include <optional>
#include <unordered_map>

#include "pits/data/read/text_rows.h"
#include "pits/data/rows.h"
#include "pits/schema/schema.h"

namespace pits {

// A categorical column of the data, which became one column per level, also for missing values.
struct OneHot {
  std::size_t column;
  std::size_t levels;
};

struct Table {
  SparseRows contexts;
  std::vector<std::uint32_t> labels;  // class of each row, an index of `classes`; empty without a label column
  std::vector<std::string> classes;   // sorted
  std::vector<double> rewards;        // (rows, reward_columns) of every action, where the data knows them
  std::size_t reward_columns = 0;
  std::vector<OneHot> one_hot{};   // the columns that became several
  std::optional<Schema> schema{};  // of the contexts, where it was made of rows of text
  std::string sha256{};            // of the data it was made of
  std::string remark{};            // what a table of results must say about it
};

enum class ColumnKind { dropped, numeric, categorical, label, reward };

inline constexpr std::size_t most_levels = 1000;  // of a column: more are names or numbers, not categories

// The levels of one column in order of their first appearance, and where they go when they are sorted.
class Levels {
 public:
  std::uint32_t code(std::string_view level);  // known or new
  std::size_t size() const { return names_.size(); }
  std::vector<std::string> sorted() const;
  const std::vector<std::string>& names() const { return names_; }  // of each code
  std::vector<std::uint32_t> ranks() const;                         // of each code in sorted()

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<std::uint32_t> order() const;  // codes, sorted by their levels

  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> codes_;
  std::vector<std::string> names_;
};

class TableBuilder {
 public:
  // Names of columns, or none: their numbers from 1.
  explicit TableBuilder(const std::vector<ColumnKind>& columns, std::vector<std::string> names = {});

  // Throws where the width differs from the columns', a field of a numeric column is not a number, or there are too
  // many levels.
  void add(std::span<const std::string_view> fields, const Place& place);
  Table finish() &&;

 private:
  struct Category {
    std::size_t column;
    Levels levels{};
    std::vector<std::uint32_t> provisional{};  // context column of each code until finish()
  };

  struct Number {
    std::size_t column;
    FeatureEncoder encoder;
  };
  Feature feature_of(const Category& category) const;
  void encode_levels();

  std::size_t width_;
  std::vector<std::string> names_;
  std::vector<Number> numeric_;
  std::vector<Category> categorical_;
  std::uint32_t columns_ = 0;  // of contexts so far
  std::vector<std::size_t> rewards_;
  std::size_t label_column_;
  Levels label_levels_;
  Table table_;
};

}  // namespace pits
