// ∂m(x, a; θ)/∂θ, the features of the neural tangent kernel.
#pragma once

#include "pits/model/reward_model.h"

namespace pits {

// The mean reward of every action for one context and its gradient.
class MeanGradient {
 public:
  // Passes x through the network.
  void at(const RewardModel& model, std::span<const float> theta, std::span<const float> x);

  std::span<const float> means() const { return means_; }  // (K)
  // Of action a's mean, (P); valid until the next call.
  std::span<const float> gradient(const RewardModel& model, std::span<const float> theta, std::size_t a);

 private:
  Minibatch batch_;  // the one context
  Network::Workspace workspace_;
  std::vector<float> means_;
  std::vector<float> gradient_;
};

}  // namespace pits
