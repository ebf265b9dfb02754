// Streams and events of the GPU that end with their scope.
#pragma once

#include "pits/cuda/device/device_array.cuh"

namespace pits::cuda {

// Does not wait for the legacy stream.
struct GpuStream {
  cudaStream_t handle = nullptr;
  GpuStream() { check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~GpuStream() { cudaStreamDestroy(handle); }
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;
  void wait() const { check(cudaStreamSynchronize(handle), "the GPU"); }
};

struct GpuEvent {
  cudaEvent_t handle = nullptr;
  explicit GpuEvent(unsigned flags = cudaEventDisableTiming) {
    check(cudaEventCreateWithFlags(&handle, flags), "cudaEventCreate");
  }
  ~GpuEvent() { cudaEventDestroy(handle); }
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;
};

}  // namespace pits::cuda
