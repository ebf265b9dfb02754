#include "pits/cuda/draw.h"

#include "pits/core/philox.h"
#include "pits/cuda/device_array.cuh"

namespace pits::cuda {
namespace {

__device__ void store(std::uint32_t word, std::uint32_t& out) { out = word; }
// As Stream::uniform_float.
__device__ void store(std::uint32_t word, float& out) { out = (static_cast<float>(word >> 9) + 0.5F) * 0x1p-23F; }

// One thread a block of four words.
template <class T>
__global__ void draw(Address address, std::size_t n, T* out) {
  const std::size_t block = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (4 * block >= n) return;
  const auto four = philox_words(address, static_cast<std::uint32_t>(block));
  for (std::size_t i = 0; i < 4 && 4 * block + i < n; ++i) store(four[i], out[4 * block + i]);
}

template <class T>
std::vector<T> draw_on_card(const Address& address, std::size_t n) {
  if (n == 0) return {};
  const DeviceArray<T> out(n);
  constexpr std::size_t threads = 256;
  const std::size_t blocks = ((n + 3) / 4 + threads - 1) / threads;
  draw<<<static_cast<unsigned>(blocks), threads>>>(address, n, out.data());
  check(cudaGetLastError(), "draw");
  return out.to_host();
}

}  // namespace

int count_cards() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::vector<std::uint32_t> draw_words(const Address& address, std::size_t n) {
  return draw_on_card<std::uint32_t>(address, n);
}

std::vector<float> draw_uniforms(const Address& address, std::size_t n) { return draw_on_card<float>(address, n); }

}  // namespace pits::cuda
