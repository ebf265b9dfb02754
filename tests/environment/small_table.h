// Small random tables, and their rows written out.
#pragma once

#include <vector>

#include "pits/core/random.h"
#include "pits/data/rows.h"

namespace pits::test {

// About a third zeros; column 1 is 0.1 everywhere and column 2 zero everywhere.
inline SparseRows random_rows(std::size_t n, std::size_t width) {
  SparseRows rows(width);
  Stream stream({.seed = 11});
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      const float x = stream.index(3) == 0 ? 0.0F : static_cast<float>(100.0 + stream.normal());
      rows.add(j, j == 1 ? 0.1F : j == 2 ? 0.0F : x + static_cast<float>(i) * 1e-3F);
    }
    rows.end_row();
  }
  return rows;
}

inline std::vector<float> dense_row(const SparseRows& rows, std::size_t i) {
  std::vector<float> x(rows.width());
  const SparseRows::Row row = rows[i];
  for (std::size_t k = 0; k < row.columns.size(); ++k) x.at(row.columns[k]) = row.values[k];
  return x;
}

}  // namespace pits::test
