#include "pits/cuda/device.h"

#include "pits/core/error.h"
#include "pits/cuda/draw.h"

namespace pits::cuda {
namespace {

template <class Work>
auto on_card(Work work) {
  try {
    return work();
  } catch (const CardFailure& e) {
    throw failed("cuda: {}", e.what());
  }
}

}  // namespace

int device_count() { return count_cards(); }

std::vector<std::uint32_t> words(const Address& address, std::size_t n) {
  return on_card([&] { return draw_words(address, n); });
}

std::vector<float> uniforms(const Address& address, std::size_t n) {
  return on_card([&] { return draw_uniforms(address, n); });
}

}  // namespace pits::cuda
