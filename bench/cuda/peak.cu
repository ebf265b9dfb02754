#include "peak.h"

#include <algorithm>
#include <vector>

#include "pits/cuda/device/blas.cuh"
#include "pits/cuda/device/device_array.cuh"

namespace pits::cuda {
namespace {

__global__ void fill_kernel(float* x, std::size_t n) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < n) x[i] = static_cast<float>((i * 2654435761U >> 8) & 0xFFFF) / 65536.0F - 0.5F;
}

}  // namespace

double product_rate(int n, GpuPrecision precision) {
  const std::size_t size = static_cast<std::size_t>(n) * n;
  const DeviceArray<float> a(size), b(size), c(size);
  fill_kernel<<<blocks_for(size, 256), 256>>>(a.data(), size);
  fill_kernel<<<blocks_for(size, 256), 256>>>(b.data(), size);
  Blas blas(precision);
  blas.use(nullptr);
  cudaEvent_t before, after;
  check(cudaEventCreate(&before), "event");
  check(cudaEventCreate(&after), "event");
  std::vector<float> times;
  for (int i = 0; i < 12; ++i) {
    check(cudaEventRecord(before), "event");
    blas.product_with_transposed({n, n, n, 1}, {a.data(), n, 0}, {b.data(), n, 0}, 0.0F, {c.data(), n, 0});
    check(cudaEventRecord(after), "event");
    check(cudaEventSynchronize(after), "event");
    float milliseconds = 0.0F;
    check(cudaEventElapsedTime(&milliseconds, before, after), "event");
    if (i >= 2) times.push_back(milliseconds);
  }
  std::nth_element(times.begin(), times.begin() + 5, times.end());
  return 2.0 * n * static_cast<double>(n) * n / (1e-3 * times[5]);
}

}  // namespace pits::cuda
