// The first layer on sparse contexts. Units run along lanes, one observation or one column at a time.
#pragma once

#include <span>

#include "pits/model/activation.h"
#include "pits/model/sparse_contexts.h"

namespace pits {

// Scratch of one thread; the second index is the unit, padded to whole vectors.
struct SparseScratch {
  Matrix<float> weights;    // (d,H): the layer's weights transposed
  Matrix<float> units;      // (B,H): its units, or their deltas
  Matrix<float> gradient;   // (d,H)
  std::vector<float> bias;  // (H): b + W base
};

// out(H,B) = f(W(H,d)·X + b(H))
void activated_layer(Activation f, ConstMatrixView<float> weights, std::span<const float> b, const SparseContexts& x,
                     SparseScratch& scratch, MatrixView<float> out);

// gradient(H,d) += D(H,B)·Xᵀ, where sums(H) are the sums of D's rows.
void add_product_transposed(ConstMatrixView<float> d, std::span<const float> sums, const SparseContexts& x,
                            SparseScratch& scratch, MatrixView<float> gradient);

}  // namespace pits
