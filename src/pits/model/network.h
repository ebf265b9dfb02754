// A fully connected network d → hidden... → K. No hidden layer makes it linear.
//
// The parameters of one particle lie layer by layer: weights (out,in) row-major, then biases (out).
#pragma once

#include <span>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/core/simd/kernels.h"
#include "pits/model/kernels/activation.h"
#include "pits/model/kernels/sparse_layer.h"
#include "pits/model/minibatch.h"

namespace pits {

struct Layer {
  std::size_t inputs;
  std::size_t outputs;
  std::size_t weights;  // offset of the weights in a particle
  std::size_t biases;   // offset of the biases
};

class Network {
 public:
  // heads: what flows back from the outputs to the hidden layers is divided by it (Osband et al. 2016).
  Network(std::size_t inputs, const std::vector<int>& hidden, std::size_t outputs, Activation activation,
          int heads = 1);

  std::size_t inputs() const { return layers_.front().inputs; }
  std::size_t outputs() const { return layers_.back().outputs; }
  std::size_t parameters() const { return layers_.back().biases + outputs(); }
  const std::vector<Layer>& layers() const { return layers_; }
  Activation activation() const { return activation_; }
  std::size_t features() const { return layers_.back().inputs; }  // units of the last hidden layer; linear: d

  // Scratch of one thread: hidden[l] is the output of hidden layer l, (width,B).
  struct Workspace {
    std::vector<PaddedMatrix<float>> hidden;
    std::vector<PaddedMatrix<float>> delta;
    std::vector<Matrix<float>> unit_scale;  // empty, or a factor for every unit of hidden layer l, (width,B): dropout
    std::vector<float> values[2];           // one context through the layers
    std::vector<float> output;              // the played outputs, then their deltas (B)
    std::vector<float> bias_sums;           // of the first layer's deltas, where the contexts are sparse
    SparseScratch sparse;
    std::vector<float> body_delta;  // several heads: what of the deltas flows back to the body (B)
  };

  // The last hidden layer's units for one context (features), or for all contexts (d,B) at once (features,B). Linear:
  // the contexts themselves. A view of w, or of the contexts.
  std::span<const float> hidden(std::span<const float> theta, std::span<const float> x, Workspace& w) const;
  ConstMatrixView<float> hidden(std::span<const float> theta, ConstMatrixView<float> contexts, Workspace& w) const;

  // All K outputs for one context.
  void evaluate(std::span<const float> theta, std::span<const float> x, Workspace& w, std::span<float> out) const;

  // The played action's output for every observation, out (B). Leaves the hidden layers in w for backward().
  void forward(std::span<const float> theta, const Minibatch& batch, Workspace& w, std::span<float> out) const;

  // gradient += Σ_b delta_b ∂output_b/∂θ, delta (B), after forward() on the same θ and batch.
  void backward(std::span<const float> theta, const Minibatch& batch, std::span<const float> delta, Workspace& w,
                std::span<float> gradient) const;

 private:
  void backward_output(std::span<const float> theta, const Minibatch& batch, std::span<const float> delta, Workspace& w,
                       std::span<float> gradient) const;
  ConstMatrixView<float> hidden(std::span<const float> theta, ConstMatrixView<float> contexts,
                                const SparseContexts& sparse, bool bf16, Workspace& w) const;
  void backward_layer(std::size_t l, const Minibatch& batch, Workspace& w, std::span<float> gradient) const;
  std::span<const float> body_delta(std::span<const float> delta, Workspace& w) const;
  void propagate(std::size_t l, Factor<float> weights, ConstMatrixView<float> delta, std::size_t first, bool bf16,
                 Workspace& w) const;

  std::vector<Layer> layers_;
  Activation activation_;
  int heads_;
};

}  // namespace pits
