#include "pits/environment/wheel.h"

#include <cmath>
#include <numbers>

namespace pits {
namespace {

// Arm 0 for x1>0,x2>0; 1 for x1>0,x2≤0; 2 for x1≤0,x2>0; 3 otherwise.
std::size_t quadrant_arm(float x1, float x2) { return (x1 > 0.0F ? 0U : 2U) + (x2 > 0.0F ? 0U : 1U); }

}  // namespace

Fields fields(WheelConfig& c) {
  return Fields{}
      .add("delta", c.delta, "radius from which the quadrant's arm pays", between(0, 1))
      .add("inner_mean", c.inner_mean, "mean reward of arms 1 to 4")
      .add("centre_mean", c.centre_mean, "mean reward of arm 5")
      .add("rim_mean", c.rim_mean, "mean reward of the quadrant's arm on the rim")
      .add("inner_sd", c.inner_sd, "standard deviation of the ordinary rewards", at_least(0))
      .add("rim_sd", c.rim_sd, "standard deviation of the rim's reward", at_least(0));
}

void Wheel::draw(std::size_t t, Round& round) const {
  Stream contexts = round_stream(setup_, Purpose::environment_context, t);
  const double radius = std::sqrt(contexts.uniform());
  const double angle = 2.0 * std::numbers::pi * contexts.uniform();
  const auto x1 = static_cast<float>(radius * std::cos(angle));
  const auto x2 = static_cast<float>(radius * std::sin(angle));
  round.context = {x1, x2};

  const auto& c = config_;
  round.mean_rewards = {c.inner_mean, c.inner_mean, c.inner_mean, c.inner_mean, c.centre_mean};
  const bool on_rim = radius >= c.delta;
  const std::size_t paying = quadrant_arm(x1, x2);
  if (on_rim) round.mean_rewards[paying] = c.rim_mean;

  Stream noise = round_stream(setup_, Purpose::environment_reward, t);
  round.rewards.resize(actions());
  for (std::size_t a = 0; a < actions(); ++a) {
    const double sd = on_rim && a == paying ? c.rim_sd : c.inner_sd;
    round.rewards[a] = round.mean_rewards[a] + sd * noise.normal();
  }
}

}  // namespace pits
