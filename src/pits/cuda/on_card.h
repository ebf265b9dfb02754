// From CardFailure, which nvcc can compile, to the one exception of pits.
#pragma once

#include "pits/core/error.h"
#include "pits/cuda/failure.h"

namespace pits::cuda {

template <class Work>
auto on_card(Work work) {
  try {
    return work();
  } catch (const CardFailure& e) {
    throw failed("cuda: {}", e.what());
  }
}

}  // namespace pits::cuda
