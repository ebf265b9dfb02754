// What the networks share in reading a layer's parameters and a minibatch's groups.
#pragma once

#include <algorithm>
#include <span>

#include "pits/core/matrix.h"
#include "pits/core/simd/kernels.h"
#include "pits/model/minibatch.h"
#include "pits/model/network.h"

namespace pits {

// The weights of a layer, (out,in).
inline ConstMatrixView<float> weights_of(const Layer& layer, std::span<const float> theta) {
  return {theta.data() + layer.weights, layer.outputs, layer.inputs};
}

inline ConstMatrixView<float> row_view(std::span<const float> x) { return {x.data(), 1, x.size()}; }

// out = W x + b
inline void affine(const Layer& layer, std::span<const float> theta, std::span<const float> x, std::span<float> out) {
  std::ranges::copy(theta.subspan(layer.biases, layer.outputs), out.begin());
  add_product_transposed(weights_of(layer, theta), row_view(x), MatrixView<float>(out.data(), out.size(), 1));
}

// The columns of one action and how many they are.
struct Group {
  std::size_t action, first, count;
};

template <class Body>
void for_each_group(const Minibatch& batch, Body body) {
  for (std::size_t a = 0; a + 1 < batch.group_start.size(); ++a) {
    const std::size_t count = batch.group_start[a + 1] - batch.group_start[a];
    if (count > 0) body(Group{a, batch.group_start[a], count});
  }
}

}  // namespace pits
