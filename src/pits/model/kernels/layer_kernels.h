// A layer of a network on a whole minibatch in one pass each: sums stay in registers until they are finished.
// Observations run along lanes. Every sum runs in an order fixed by the shape and the SIMD target.
#pragma once

#include <span>

#include "pits/core/simd/kernels.h"
#include "pits/model/kernels/activation.h"

namespace pits {

// out(m,n) = f(A(m,k)·X(k,n) + b(m))
void activated_layer(Activation f, Factor<float> a, std::span<const float> b, ConstMatrixView<float> x,
                     MatrixView<float> out);

// out(m,n) = (A(m,k)·D(k,n)) ⊙ f′, the slope from the activations h(m,n) = f(z).
void product_times_slope(Activation f, Factor<float> a, ConstMatrixView<float> d, ConstMatrixView<float> h,
                         MatrixView<float> out);

// sums(m) += Σ_j d(m,j)
void add_row_sums(ConstMatrixView<float> d, std::span<float> sums);

}  // namespace pits
