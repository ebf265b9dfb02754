// One network over the joint features of a context and an action, (x, z) → one output, for many actions at once: the
// context's part of the first layer is shared by all of them, and the rest is a few large matrix products.
#pragma once

#include "pits/core/matrix.h"
#include "pits/model/network.h"

namespace pits {

// out(i, a) = output of particle i at (x, z_a), out (M,K); z (K, inputs − size of x).
void joint_scores(const Network& network, ParticlesView theta, std::span<const float> x, ConstMatrixView<float> z,
                  MatrixView<float> out);

}  // namespace pits
