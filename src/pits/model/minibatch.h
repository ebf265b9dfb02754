// The observations that one training step sees, laid out for the score: observations run along SIMD lanes, and those
// of one action lie side by side, because only the played action's output is fitted.
#pragma once

#include <cstddef>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/model/kernels/sparse_contexts.h"

namespace pits {

struct Minibatch {
  PaddedMatrix<float> contexts;          // (d,B): column b is the context of observation b
  SparseContexts sparse;                 // the same contexts, where few of their numbers differ from a common row
  std::vector<float> rewards;            // (B)
  std::vector<std::size_t> group_start;  // (K+1): action a owns columns group_start[a] .. group_start[a+1]−1
  bool bf16 = false;                     // the layers multiply numbers rounded to bf16 (core/simd/tiles.h)
  float likelihood_scale = 1.0F;         // t/B makes the sum over B an estimate of the sum over all t observations

  // Row i is particle i's; empty: every weight is 1, every offset 0.
  Matrix<float> weights;  // (M,B) of the observations' log likelihoods
  Matrix<float> offsets;  // (M,B) added to the rewards

  std::size_t size() const { return rewards.size(); }
};

}  // namespace pits
