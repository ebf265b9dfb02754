// From GpuFailure, which nvcc can compile, to the one exception of pits.
#pragma once

#include "pits/core/error.h"
#include "pits/cuda/device/failure.h"

namespace pits::cuda {

template <class Work>
auto on_gpu(Work work) {
  try {
    return work();
  } catch (const GpuFailure& e) {
    throw failed("cuda: {}", e.what());
  }
}

}  // namespace pits::cuda
