// Rows of named features, of which each row has some, as a dense matrix with a column for each name.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pits/core/error.h"

namespace pits {

class SparseRows {
 public:
  using Row = std::vector<std::pair<std::uint32_t, float>>;

  std::uint32_t column(const std::string& name) {
    const auto [place, added] = columns_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return place->second;
  }
  std::size_t width() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }

  std::vector<float> dense(const Row& row) const {
    std::vector<float> out(width());
    for (const auto& [column, value] : row) out[column] += value;
    return out;
  }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> columns_;
};

// Throws where a dense matrix would not be sensible.
inline void check_dense(const std::string& file, std::size_t rows, std::size_t columns) {
  constexpr std::size_t most = std::size_t{4} << 30U;  // numbers
  if (columns == 0 || rows <= most / columns) return;
  throw bad_input("'{}': {} rounds of {} different features are too many numbers; hash or drop rare features first",
                  file, rows, columns);
}

}  // namespace pits
