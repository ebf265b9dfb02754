// Many N(0,1) at once in float: Box-Muller as a Highway kernel, one word of the address's stream a draw. For noise that
// every observation of a minibatch needs; Stream::normal() is the double version, one at a time.
#pragma once

#include <span>

#include "pits/core/random.h"

namespace pits {

// Words turned into draws together: word i of the first half and word i of the second make draws i and half + i. More
// than twice the lanes of any target, and fixed, so that the pairing does not depend on the target.
constexpr std::size_t normals_chunk = 256;

// Draw i of an address depends on the address and i alone. Draws of 24 bits: none lies beyond ±5.8.
void fill_normals(const Address& address, std::span<float> out);

}  // namespace pits
