// From the values of the last hidden layer to the played outputs and back: what lies between the products of
// score_wide.cu.
#pragma once

#include "pits/cuda/state.cuh"

namespace pits::cuda {

// The outputs of `count` particles of a realization from `first` on, which become their δ: 0 but for the action played.
struct Outputs {
  float* out;  // (count,B,stride)
  int stride, batch, realization, first, count;
  const std::int32_t* actions_taken;
  const float* rewards_received;
};

struct LastHidden {
  float* z;      // (count,B,stride): becomes h = f(z)
  float* delta;  // (count,B,stride): becomes δ V(a,·) ⊙ f′
  float* sums;   // (count,slabs,stride): of delta over a slab of observations; or null
  int stride;
};

// Whether the gradient of a last hidden layer's biases is summed by the pass: as one more column of a product it would
// fill a tile of its own.
bool bias_apart(const LayerLayout& layer);
std::size_t observation_slabs(int batch);

// A network: h, `o.out`, delta and, where there are sums, the gradient of the biases, added to the score.
void pass_outputs(const GroupView& group, const Outputs& o, const LastHidden& hidden, cudaStream_t stream);

// A model without hidden layers, whose outputs are in `o.out`.
void deltas_of_linear(const GroupView& group, const Outputs& o, cudaStream_t stream);

// Adds ∂/∂log σ to the score where the noise is learned; after the δ.
void noise_gradient(const GroupView& group, const Outputs& o, cudaStream_t stream);

}  // namespace pits::cuda
