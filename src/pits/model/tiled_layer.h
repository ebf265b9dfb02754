// The first layer on contexts for the tile registers (core/tiles.h).
#pragma once

#include <span>
#include <vector>

#include "pits/model/activation.h"
#include "pits/model/tiled_contexts.h"

namespace pits {

// Scratch of one thread.
struct TiledScratch {
  TileScratch tiles;
  PaddedMatrix<float> weights;   // (H,rows): the layer's weights, times the factors of the rows
  PaddedMatrix<float> gradient;  // (H,rows)
  std::vector<float> bias;       // b + W shift
};

// out(H,B) = f(W(H,d)·X + b(H))
void activated_layer(Activation f, ConstMatrixView<float> weights, std::span<const float> b, const TiledContexts& x,
                     TiledScratch& scratch, MatrixView<float> out);

// gradient(H,d) += D(H,B)·Xᵀ, where sums(H) are the sums of D's rows.
void add_product_transposed(ConstMatrixView<float> d, std::span<const float> sums, const TiledContexts& x,
                            TiledScratch& scratch, MatrixView<float> gradient);

}  // namespace pits
