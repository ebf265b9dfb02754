#include "pits/cuda/device/device.h"

#include <cuda_runtime.h>

namespace pits::cuda {

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

}  // namespace pits::cuda
