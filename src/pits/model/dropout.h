// Dropout (Srivastava et al. 2014): every hidden unit stays with probability `keep`, times 1/keep, or is 0.
#pragma once

#include <cstdint>

#include "pits/core/random.h"
#include "pits/model/network.h"

namespace pits {

// Random words that B contexts need: one a hidden unit and context.
std::size_t dropout_words(const Network& network, std::size_t B);
// The factor of every hidden unit and each of B contexts, for Network::Workspace::unit_scale.
void set_dropout(const Network& network, double keep, std::size_t B, std::span<const std::uint32_t> words,
                 std::vector<Matrix<float>>& scale);

// All K outputs for one context with fresh dropout. w.unit_scale is drawn again.
void evaluate_with_dropout(const Network& network, std::span<const float> theta, double keep, std::span<const float> x,
                           Stream& stream, Network::Workspace& w, std::span<float> out);

}  // namespace pits
