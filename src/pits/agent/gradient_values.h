// What NeuralUCB and NeuralTS share: means of the actions and how uncertain the gradients' design leaves each.
#pragma once

#include "pits/agent/agent.h"
#include "pits/model/mean_gradient.h"
#include "pits/posterior/gradient_design.h"

namespace pits {

// value(mean, norm of the gradient) of every action, out (K).
template <class Value>
void gradient_values(const RewardModel& model, std::span<const float> theta, const GradientDesign& design,
                     ContextView x, std::span<float> out, Value value) {
  thread_local MeanGradient gradient;
  gradient.at(model, theta, x);
  for (std::size_t a = 0; a < out.size(); ++a) {
    const double norm = design.norm(gradient.gradient(model, theta, a));
    out[a] = static_cast<float>(value(gradient.means()[a], norm));
  }
}

// One more play in the design.
inline void add_play(const RewardModel& model, std::span<const float> theta, ContextView x, Action a,
                     GradientDesign& design) {
  thread_local MeanGradient gradient;
  gradient.at(model, theta, x);
  design.add(gradient.gradient(model, theta, a));
}

}  // namespace pits
