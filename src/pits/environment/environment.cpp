#include "pits/environment/environment.h"

#include <algorithm>

#include "pits/core/error.h"

namespace pits {

double Round::best_mean() const {
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < mean_rewards.size(); ++a) {
    if (admits(a)) best = std::max(best, mean_rewards[a]);
  }
  return best;
}

double Round::even(std::span<const double> paid) const {
  double sum = 0.0;
  std::size_t actions = 0;
  for (std::size_t a = 0; a < paid.size(); ++a) {
    if (!admits(a)) continue;
    sum += paid[a];
    ++actions;
  }
  return sum / static_cast<double>(actions);
}

Stream round_stream(const EnvironmentSetup& setup, Purpose purpose, std::size_t t) {
  constexpr std::size_t last = std::numeric_limits<std::uint32_t>::max();
  if (t > last) throw bad_input("round {}: rounds are numbered from 0 to {}", t, last);
  return Stream({setup.seed, setup.realization, purpose, static_cast<std::uint32_t>(t)});
}

}  // namespace pits
