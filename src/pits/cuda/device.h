// The GPU, seen from the CPU. Nothing here fails where there is no card until it is asked to compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pits/core/random.h"

namespace pits::cuda {

// Cards this process can use; 0 also where there is no driver.
int device_count();

// The first n 32-bit words of a stream, and the first n uniforms (0,1) of 23 bits, drawn on the card: the same bits as
// pits::Stream draws on the CPU.
std::vector<std::uint32_t> words(const Address& address, std::size_t n);
std::vector<float> uniforms(const Address& address, std::size_t n);

}  // namespace pits::cuda
