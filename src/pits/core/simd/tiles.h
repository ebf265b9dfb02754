// Matrix products on the tile registers of AMX: numbers of bf16 are multiplied, their products summed in float32. A
// float32 is the sum of three bf16 numbers exactly, so that three passes over numbers that are bf16 already, such as
// ones and zeros, are as good as a product in float32.
#pragma once

#include <cstdint>

#include "pits/core/matrix.h"

namespace pits {

// Whether the processor has tile registers and the system lets this process use them.
bool machine_has_tiles();

// The right factor B(k,n) of a product: numbers rounded to bf16, within 2⁻⁸, in the order in which their tiles are
// loaded.
class TileFactor {
 public:
  void pack(ConstMatrixView<float> b);
  void pack_transposed(ConstMatrixView<float> b);  // B = bᵀ

  // Takes memory for this shape, so that packing any smaller one allocates nothing.
  void reserve(std::size_t k, std::size_t n);

  std::size_t k() const { return k_; }
  std::size_t n() const { return n_; }
  // The tile of rows 32·step .. and columns 16·column_tile ...
  const std::uint32_t* tile(std::size_t step, std::size_t column_tile) const {
    return tiles_.data() + offset(step, column_tile);
  }

 private:
  void reshape(std::size_t k, std::size_t n);
  std::size_t offset(std::size_t step, std::size_t column_tile) const;

  std::size_t k_ = 0, n_ = 0;
  AlignedVector<std::uint32_t> tiles_;  // pairs of rows side by side; what lies outside of B is 0
};

// Scratch of one thread: the left factor in tiles.
struct TileScratch {
  AlignedVector<std::uint16_t> left;
};

// A left factor as it is, in three parts of bf16, or rounded to one. Parts that are denormal count as zero.
enum class LeftFactor { exact, rounded };

// C(m,n) = A(m,k)·B(k,n)
void tile_product(ConstMatrixView<float> a, LeftFactor left, const TileFactor& b, TileScratch& scratch,
                  MatrixView<float> c);

}  // namespace pits
