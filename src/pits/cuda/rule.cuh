// The optimiser's step of a parameter, as core/optimizer.cpp has it.
#pragma once

#include "pits/cuda/flow_few.cuh"

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

// The same of four parameters at `at`.
__device__ inline float4 moved_four(const FlowState& state, const StepSize& size, const float4& theta, const float4& v,
                                    std::int64_t at) {
  float *first = state.first + at, *second = state.second + at;
  return {moved(state.rule, size, theta.x, v.x, first, second),
          moved(state.rule, size, theta.y, v.y, first + 1, second + 1),
          moved(state.rule, size, theta.z, v.z, first + 2, second + 2),
          moved(state.rule, size, theta.w, v.w, first + 3, second + 3)};
}

__device__ inline bool safe(const float4& x) {
  return fabsf(x.x) <= largest_parameter && fabsf(x.y) <= largest_parameter && fabsf(x.z) <= largest_parameter &&
         fabsf(x.w) <= largest_parameter;
}

}  // namespace pits::cuda
