#include "pits/environment/environment.h"

#include <algorithm>
#include <numeric>

namespace pits {

double Round::best_mean() const { return *std::ranges::max_element(mean_rewards); }

double Round::even_reward() const {
  return std::accumulate(rewards.begin(), rewards.end(), 0.0) / static_cast<double>(rewards.size());
}

}  // namespace pits
