// Matrix products on the tile registers of AMX: numbers of bf16 are multiplied, their products summed in float32. A
// float32 is the sum of three bf16 numbers exactly, so that three passes over numbers that are bf16 already, such as
// ones and zeros, are as good as a product in float32.
#pragma once

#include <cstdint>

#include "pits/core/matrix.h"

namespace pits {

// Whether the processor has tile registers and the system lets this process use them.
bool machine_has_tiles();

// The right factor B(k,n) of a product, in the order in which its tiles are loaded. Every number is taken apart into
// `parts` numbers of bf16, each the rounded rest of those before it: one part is within 2⁻⁸ of the number, two are
// within 2⁻¹⁶, three are the number. Numbers whose parts are denormal count as zero.
class TileFactor {
 public:
  void pack(ConstMatrixView<float> b, std::size_t parts);
  void pack_transposed(ConstMatrixView<float> b, std::size_t parts);  // B = bᵀ

  // Takes memory for this shape, so that packing any smaller one allocates nothing.
  void reserve(std::size_t k, std::size_t n, std::size_t parts);

  std::size_t k() const { return k_; }
  std::size_t n() const { return n_; }
  std::size_t parts() const { return parts_; }
  // The tile of rows 32·step .. and columns 16·column_tile .., its parts after one another.
  const std::uint32_t* tile(std::size_t step, std::size_t column_tile) const {
    return tiles_.data() + offset(step, column_tile);
  }

 private:
  void reshape(std::size_t k, std::size_t n, std::size_t parts);
  std::size_t offset(std::size_t step, std::size_t column_tile) const;

  std::size_t k_ = 0, n_ = 0, parts_ = 0;
  AlignedVector<std::uint32_t> tiles_;  // pairs of rows side by side; what lies outside of B is 0
};

// Scratch of one thread: the left factor in tiles.
struct TileScratch {
  AlignedVector<std::uint16_t> left;
};

// C(m,n) = A(m,k)·B(k,n), A in `parts` parts. Of the products of part i of A and part j of B those with
// i + j < max(parts of A, parts of B) are summed; the others are smaller than what was rounded away.
void tile_product(ConstMatrixView<float> a, std::size_t parts, const TileFactor& b, TileScratch& scratch,
                  MatrixView<float> c);

}  // namespace pits
