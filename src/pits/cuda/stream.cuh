// Streams and events of the card that end with their scope.
#pragma once

#include "pits/cuda/device_array.cuh"

namespace pits::cuda {

// Does not wait for the legacy stream.
struct CardStream {
  cudaStream_t handle = nullptr;
  CardStream() { check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~CardStream() { cudaStreamDestroy(handle); }
  CardStream(const CardStream&) = delete;
  CardStream& operator=(const CardStream&) = delete;
  void wait() const { check(cudaStreamSynchronize(handle), "the card"); }
};

struct CardEvent {
  cudaEvent_t handle = nullptr;
  explicit CardEvent(unsigned flags = cudaEventDisableTiming) {
    check(cudaEventCreateWithFlags(&handle, flags), "cudaEventCreate");
  }
  ~CardEvent() { cudaEventDestroy(handle); }
  CardEvent(const CardEvent&) = delete;
  CardEvent& operator=(const CardEvent&) = delete;
};

}  // namespace pits::cuda
