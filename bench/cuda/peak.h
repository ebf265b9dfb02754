#pragma once

#include "pits/cuda/settings.h"

namespace pits::cuda {

// Operations a second of cuBLAS in a product of two n×n matrices.
double product_rate(int n, GpuPrecision precision);

}  // namespace pits::cuda
