// The first layer on sparse contexts: on tile registers, or units along lanes, one observation or one column at a time.
#pragma once

#include <span>

#include "pits/model/kernels/activation.h"
#include "pits/model/kernels/sparse_contexts.h"
#include "pits/model/kernels/tiled_layer.h"

namespace pits {

// Scratch of one thread: a block of units at a time, so that the L1 cache holds the block of most rows.
struct SparseScratch {
  Matrix<float> weights;    // (d,·): the layer's weights transposed
  Matrix<float> units;      // (B,·): its units, or their deltas
  Matrix<float> gradient;   // (d,·)
  std::vector<float> bias;  // b + W base, or the sums of the deltas; padded to whole blocks
  TiledScratch tiled;
};

// out(H,B) = f(W(H,d)·X + b(H))
void activated_layer(Activation f, ConstMatrixView<float> weights, std::span<const float> b, const SparseContexts& x,
                     SparseScratch& scratch, MatrixView<float> out);

// gradient(H,d) += D(H,B)·Xᵀ, where sums(H) are the sums of D's rows.
void add_product_transposed(ConstMatrixView<float> d, std::span<const float> sums, const SparseContexts& x,
                            SparseScratch& scratch, MatrixView<float> gradient);

}  // namespace pits
