// Contexts for the tile registers, made once for all particles. They are rows of bf16 numbers, so that a product with
// them loses nothing: a column of bf16 numbers, such as ones and zeros, is such a row itself; of a column with two
// values, such as a standardised one-hot column, the row says which; any other column is the sum of three rows.
//   x_l = shift_l + Σ_k factor_k · numbers(k, ·) over the rows k of column l
#pragma once

#include <cstdint>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/core/simd/tiles.h"
#include "pits/model/kernels/column_kernels.h"

namespace pits {

class TiledContexts {
 public:
  // From contexts (d,B) and what survey_column() found in each of their columns beside `base`. `weights` says how
  // what they are multiplied by is taken.
  void set(const PaddedMatrix<float>& contexts, std::span<const float> base, std::span<const ColumnSurvey> found,
           LeftFactor weights = LeftFactor::exact);
  // Any contexts, rounded, and what they are multiplied by, too.
  void set_rounded(const PaddedMatrix<float>& contexts);

  std::size_t columns() const { return shift_.size(); }
  std::size_t rows() const { return by_column_.k(); }
  LeftFactor weights() const { return weights_; }                       // and deltas
  const TileFactor& by_column() const { return by_column_; }            // numbers, (rows,B)
  const TileFactor& by_observation() const { return by_observation_; }  // (B,rows)

  // The contexts are the numbers: no shift, every factor 1, one row a column.
  bool plain() const { return plain_; }
  std::span<const float> shift() const { return shift_; }    // (d)
  std::span<const float> factor() const { return factor_; }  // (d): of row l, which belongs to column l
  // The columns of the rows d, d+1, ..., whose factor is 1; empty where no column needs more than one row.
  std::span<const std::uint32_t> further() const { return further_; }

 private:
  void set_column(std::span<const float> x, float base, const ColumnSurvey& found, std::size_t l);

  void set_plain(const PaddedMatrix<float>& contexts);

  bool plain_ = true;
  LeftFactor weights_ = LeftFactor::exact;
  std::vector<float> shift_, factor_;
  std::vector<std::uint32_t> further_;
  Matrix<float> numbers_;
  TileFactor by_column_, by_observation_;
};

}  // namespace pits
