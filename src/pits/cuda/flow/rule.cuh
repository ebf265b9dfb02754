// The optimiser's step of a parameter, as flow/optimizer.cpp has it.
#pragma once

#include "pits/cuda/flow/flow_few.cuh"

namespace pits::cuda {

// θ after a step along v; `first` and `second` are the rule's memory of this parameter.
__device__ inline float moved(Rule rule, const StepFactors<float>& f, float theta, float v, float* first,
                              float* second) {
  switch (rule) {
    case Rule::sgd: return theta + f.step * v;
    case Rule::sign: return theta + f.step * __fdividef(v, fabsf(v) + f.epsilon);
    case Rule::adagrad: *second += v * v; return theta + f.step * v / (sqrtf(*second) + f.epsilon);
    case Rule::rmsprop:
      *second = f.second_moment * *second + (1.0F - f.second_moment) * v * v;
      return theta + f.step * v / (sqrtf(*second) + f.epsilon);
    case Rule::adam:
      *first = f.momentum * *first + (1.0F - f.momentum) * v;
      *second = f.second_moment * *second + (1.0F - f.second_moment) * v * v;
      return theta + f.step * *first / (sqrtf(*second) * f.root_correction + f.epsilon);
  }
  return theta;
}

// The same of four parameters at `at`.
__device__ inline float4 moved_four(const FlowState& state, const StepFactors<float>& f, const float4& theta,
                                    const float4& v, std::int64_t at) {
  float *first = state.first + at, *second = state.second + at;
  return {moved(state.rule, f, theta.x, v.x, first, second), moved(state.rule, f, theta.y, v.y, first + 1, second + 1),
          moved(state.rule, f, theta.z, v.z, first + 2, second + 2),
          moved(state.rule, f, theta.w, v.w, first + 3, second + 3)};
}

__device__ inline bool safe(const float4& x) {
  constexpr auto bound = static_cast<float>(largest_parameter);
  return fabsf(x.x) <= bound && fabsf(x.y) <= bound && fabsf(x.z) <= bound && fabsf(x.w) <= bound;
}

}  // namespace pits::cuda
