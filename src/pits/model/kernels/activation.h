// Elementwise non-linearities, as Highway kernels.
#pragma once

#include <span>

#include "pits/core/fields.h"

namespace pits {

enum class Activation { relu, tanh };
template <>
inline constexpr auto enum_names<Activation> = std::array{"relu", "tanh"};

// z ← f(z)
void activate(Activation f, std::span<float> z);

// delta ← delta ⊙ f′, with f′ from the activation's own value a = f(z): [a > 0] or 1 − a².
void multiply_by_slope(Activation f, std::span<const float> a, std::span<float> delta);

}  // namespace pits
