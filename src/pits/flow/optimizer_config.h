// Settings of an optimiser and the numbers of one step. Plain, so that the GPU's code includes the same ones.
#pragma once

#include "pits/core/enum_names.h"

namespace pits {

class Fields;

enum class Rule { sgd, adagrad, rmsprop, adam, sign };
template <>
inline constexpr auto enum_names<Rule> = std::array{"sgd", "adagrad", "rmsprop", "adam", "sign"};

enum class Schedule { constant, inverse, exponential };
template <>
inline constexpr auto enum_names<Schedule> = std::array{"constant", "inverse", "exponential"};

struct OptimizerConfig {
  Rule rule = Rule::adam;
  double step = 1e-3;
  Schedule schedule = Schedule::constant;
  double decay = 0.0;            // inverse: step/(1 + decay·k); exponential: step·exp(−decay·k), k steps done
  double clip = 0.0;             // largest norm of a particle's velocity; 0 does not clip
  double momentum = 0.9;         // Adam's β₁
  double second_moment = 0.999;  // Adam's β₂; RMSProp's ρ
  double epsilon = 1e-8;         // added to the root; sign: v/(|v| + epsilon)
  double first_square = 0.0;     // RMSProp: where the mean of squares starts; TensorFlow's starts at 1
  bool restart = false;          // every training restarts the schedule
};
Fields fields(OptimizerConfig& config);

// The numbers of one step in the particles' type. Adam's bias corrections are part of `step` and `root_correction`.
template <class T>
struct StepFactors {
  T step = 0, momentum = 0, second_moment = 0, epsilon = 0, root_correction = 0;
};

// Parameters beyond this bound, or NaN, have diverged: squared distances of particles within it fit a float.
constexpr double largest_parameter = 1e15;

}  // namespace pits
