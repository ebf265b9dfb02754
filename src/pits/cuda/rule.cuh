// The optimiser's step of one parameter, as core/optimizer.cpp has it.
#pragma once

#include "pits/cuda/state.cuh"

namespace pits::cuda {

// Beyond this bound, or at NaN, no flow has a velocity to offer (posterior/particles.cpp).
constexpr float largest_parameter = 1e15F;

// θ after a step along v; `first` and `second` are the rule's memory of this parameter.
__device__ inline float moved(const RuleSettings& r, const StepSize& size, float theta, float v, float* first,
                              float* second) {
  switch (r.rule) {
    case CardRule::sgd: return theta + size.eta * v;
    case CardRule::sign: return theta + size.eta * __fdividef(v, fabsf(v) + r.epsilon);
    case CardRule::adagrad: *second += v * v; return theta + size.eta * v / (sqrtf(*second) + r.epsilon);
    case CardRule::rmsprop:
      *second = r.second_moment * *second + (1.0F - r.second_moment) * v * v;
      return theta + size.eta * v / (sqrtf(*second) + r.epsilon);
    case CardRule::adam:
      *first = r.momentum * *first + (1.0F - r.momentum) * v;
      *second = r.second_moment * *second + (1.0F - r.second_moment) * v * v;
      return theta + size.eta * *first / (sqrtf(*second) * size.root_correction + r.epsilon);
  }
  return theta;
}

}  // namespace pits::cuda
