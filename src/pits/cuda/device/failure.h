// How the sources that nvcc compiles report trouble. No Eigen, Highway or fmt in here: fmt's compile-time format check
// does not pass nvcc, so pits::Error is thrown by the .cpp files, through on_gpu.
#pragma once

#include <stdexcept>

namespace pits::cuda {

// A CUDA call failed, or the GPU lacks something.
struct GpuFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace pits::cuda
