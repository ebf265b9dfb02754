#include "pits/cuda/device.h"

#include "pits/cuda/draw.h"
#include "pits/cuda/on_card.h"

namespace pits::cuda {
int device_count() { return count_cards(); }

std::vector<std::uint32_t> words(const Address& address, std::size_t n) {
  return on_card([&] { return draw_words(address, n); });
}

std::vector<float> uniforms(const Address& address, std::size_t n) {
  return on_card([&] { return draw_uniforms(address, n); });
}

}  // namespace pits::cuda
