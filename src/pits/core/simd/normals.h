// Many N(0,1) at once in float: Box-Muller as a Highway kernel, one word of the address's stream a draw. For noise that
// every observation of a minibatch needs; Stream::normal() is the double version, one at a time.
#pragma once

#include <span>

#include "pits/core/random.h"

namespace pits {

// Draw i of an address depends on the address and i alone. Draws of 24 bits: none lies beyond ±5.8.
void fill_normals(const Address& address, std::span<float> out);

}  // namespace pits
