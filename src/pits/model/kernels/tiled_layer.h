// Layers on the tile registers (core/simd/tiles.h): the first on its contexts, and the others with the numbers of both
// factors rounded to bf16.
#pragma once

#include <span>
#include <vector>

#include "pits/core/simd/kernels.h"
#include "pits/model/kernels/activation.h"
#include "pits/model/kernels/tiled_contexts.h"

namespace pits {

// Scratch of one thread.
struct TiledScratch {
  TileScratch tiles;
  TileFactor input, turned, delta;  // of a hidden layer: its input, the same for the gradient, what flows back
  PaddedMatrix<float> weights;      // (H,rows): the layer's weights, times the factors of the rows, or transposed
  PaddedMatrix<float> gradient;     // (H,rows)
  std::vector<float> bias;          // b + W shift
};

// out(H,B) = f(W(H,d)·X + b(H))
void activated_layer(Activation f, ConstMatrixView<float> weights, std::span<const float> b, const TiledContexts& x,
                     TiledScratch& scratch, MatrixView<float> out);

// gradient(H,d) += D(H,B)·Xᵀ, where sums(H) are the sums of D's rows.
void add_product_transposed(ConstMatrixView<float> d, std::span<const float> sums, const TiledContexts& x,
                            TiledScratch& scratch, MatrixView<float> gradient);

// out(m,n) = f(A(m,k)·X(k,n) + b(m))
void activated_layer_bf16(Activation f, ConstMatrixView<float> a, std::span<const float> b, ConstMatrixView<float> x,
                          TiledScratch& scratch, MatrixView<float> out);

// out(m,n) = (A(m,k)·D(k,n)) ⊙ f′, the slope from the activations h(m,n) = f(z).
void product_times_slope_bf16(Activation f, Factor<float> a, ConstMatrixView<float> d, ConstMatrixView<float> h,
                              TiledScratch& scratch, MatrixView<float> out);

// C(m,p) += A(m,n)·B(p,n)ᵀ
void add_product_transposed_bf16(ConstMatrixView<float> a, ConstMatrixView<float> b, TiledScratch& scratch,
                                 MatrixView<float> c);

}  // namespace pits
