// One context through a network: the path of a decision. A batch has its own kernels (network.h); here the weights are
// read once and never reused, so the units of a layer are dot products of rows, four at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/model/kernels/activation.h"

namespace pits {

struct Layer;

// The layers of a network that a context goes through, and whether the last of them has an activation: all hidden
// layers, or the whole network.
struct LayerStack {
  std::span<const Layer> layers;
  Activation activation;
  bool activate_last;
};

// out(i,·) = the last layer's units for particle i = row i of theta, (M, outputs). `scratch` keeps its memory.
void evaluate_context(const LayerStack& stack, ParticlesView theta, std::span<const float> x,
                      std::vector<float>& scratch, MatrixView<float> out);

}  // namespace pits
