// How the likelihood of a minibatch is weighed. Plain, so that the GPU's code includes it.
#pragma once

#include "pits/core/enum_names.h"

namespace pits {

// What the sum over a minibatch of B of the t observations kept is multiplied by: t/B, which estimates the sum over all
// of them (docs/method.md), 1, as the paper's released code does, or 1/B, the mean that the showdown's networks fit.
enum class LikelihoodScale { data, minibatch, mean };
template <>
inline constexpr auto enum_names<LikelihoodScale> = std::array{"data", "minibatch", "mean"};

}  // namespace pits
