// Memory on the GPU, and the check of every CUDA call.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pits/cuda/device/failure.h"

namespace pits::cuda {

inline void check(cudaError_t status, const char* operation) {
  if (status != cudaSuccess) throw GpuFailure(std::string(operation) + ": " + cudaGetErrorString(status));
}

// An array on the GPU; its contents are undefined until they are written.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t n) : size_(n) {
    if (n > 0) check(cudaMalloc(&data_, n * sizeof(T)), "cudaMalloc");
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) { write(host.data(), host.size()); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  void fill_zero() {
    if (size_ > 0) check(cudaMemset(data_, 0, size_ * sizeof(T)), "cudaMemset");
  }
  void write(const T* host, std::size_t n, std::size_t at = 0) {
    if (n == 0) return;
    check(cudaMemcpy(data_ + at, host, n * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    // A small copy from pageable memory returns before it has arrived, and our streams do not wait for it.
    check(cudaStreamSynchronize(cudaStreamLegacy), "cudaMemcpy");
  }
  std::vector<T> to_host() const {
    std::vector<T> host(size_);
    if (size_ > 0) {
      check(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    }
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

inline unsigned blocks_for(std::size_t items, std::size_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace pits::cuda
