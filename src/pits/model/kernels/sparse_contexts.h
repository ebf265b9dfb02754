// Contexts that differ from a common row in few places, such as one-hot columns, standardised or not: only the
// differences are worked on. With x = base + δ the first layer W x + b is W δ + (b + W base), up to the
// rounding of sums. Tile registers, where the SIMD target has them, are fast enough to work on all numbers, as long as
// these are bf16 numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/model/kernels/tiled_contexts.h"

namespace pits {

struct SparseContexts {
  // The differences in one order: entries start[i] .. start[i+1]−1 belong to line i and lie at `other` on it.
  struct Entries {
    std::vector<std::uint32_t> start;
    std::vector<std::uint32_t> other;
    std::vector<float> value;
  };

  std::vector<float> base;  // (d), empty where the contexts are better taken as they are
  Entries by_column;        // line: column of the contexts, other: observation
  Entries by_observation;   // line: observation, other: column
  bool tiled = false;       // the contexts lie in `tiles`, and the two lists are not made
  TiledContexts tiles;

  bool empty() const { return base.empty() && !tiled; }
  std::size_t columns() const { return tiled ? tiles.columns() : base.size(); }
  std::size_t observations() const { return observations_; }

  // From contexts (d,B). Stays empty where fewer than two numbers of three equal their column's base, except where the
  // layers multiply in `bf16`: then all contexts lie in `tiles`.
  void find(const PaddedMatrix<float>& contexts, bool bf16 = false);

 private:
  bool count(const PaddedMatrix<float>& contexts);
  void list(const PaddedMatrix<float>& contexts);
  void list_by_observation();

  std::size_t observations_ = 0;
  std::vector<ColumnSurvey> found_;  // (d)
};

}  // namespace pits
