// Rewards linear in the context, r_a = x·β_a + ε_a, ε_a ~ N(0, σ_a²).
#pragma once

#include <Eigen/Core>

#include "pits/core/fields.h"
#include "pits/core/random.h"
#include "pits/environment/environment.h"

namespace pits {

// What 0.01·a is for action a = 1..K: the noise's standard deviation (the authors' code) or its variance (their text).
enum class NoiseUnit { sd, variance };
template <>
inline constexpr auto enum_names<NoiseUnit> = std::array{"sd", "variance"};
enum class NoiseGrowth { action, none };  // level·a for action a, or the same level for all
template <>
inline constexpr auto enum_names<NoiseGrowth> = std::array{"action", "none"};

struct RewardNoise {
  NoiseUnit unit = NoiseUnit::sd;
  double level = 0.01;  // of action 1
  NoiseGrowth growth = NoiseGrowth::action;

  double sd(std::size_t action) const;
};
Fields fields(RewardNoise& noise);  // noise, noise_level, noise_growth

enum class Support { all, third };  // coordinates that are not zero: all, or ⌊d/3⌋ random ones (at least 1)

// (d,K): columns of U(−1,1) coordinates scaled to norm 1.
Eigen::MatrixXd draw_coefficients(Stream& stream, Eigen::Index d, Eigen::Index K, Support support);

// Fills the rewards of a round from its context.
void draw_linear_rewards(const Eigen::MatrixXd& beta, const RewardNoise& noise, Stream stream, Round& round);

}  // namespace pits
