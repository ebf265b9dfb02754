// What nvcc compiles: no Eigen, Highway or fmt in here.
#pragma once

#include <cstdint>
#include <vector>

#include "pits/core/random.h"

namespace pits::cuda {

int count_cards();
std::vector<std::uint32_t> draw_words(const Address& address, std::size_t n);
std::vector<float> draw_uniforms(const Address& address, std::size_t n);

}  // namespace pits::cuda
