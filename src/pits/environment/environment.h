// A problem: for every round a context, and the reward and mean reward of every action.
//
// Rounds are drawn by address, so an environment has no state: round t is the same whoever asks, in whatever order.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "pits/core/matrix.h"

namespace pits {

struct Round {
  std::vector<float> context;        // (d)
  std::vector<double> rewards;       // (K) what each action would pay
  std::vector<double> mean_rewards;  // (K) what it pays on average in this context

  double best_mean() const;    // the regret of a round is best_mean() − rewards[a]
  double even_reward() const;  // mean of rewards: what uniform play earns on average
};

struct EnvironmentSetup {
  std::uint64_t seed = 0;
  std::uint32_t realization = 0;
  std::size_t steps = 2000;  // T: some problems standardise over the rows of a realization
  std::string data_dir{};    // where data files are looked for first; empty: $PITS_DATA, then the cache
};

class Environment {
 public:
  virtual ~Environment() = default;
  virtual std::size_t context_size() const = 0;  // d
  virtual std::size_t actions() const = 0;       // K
  // Rounds after which the problem ends, whatever was asked for.
  virtual std::size_t horizon() const { return std::numeric_limits<std::size_t>::max(); }
  // What a table that shows this problem must say about its data, e.g. that it is a subset; empty: nothing.
  virtual std::string remark() const { return {}; }
  // SHA-256 of the data that the rounds come from; empty for a formula.
  virtual std::string data_sha256() const { return {}; }
  virtual void draw(std::size_t t, Round& round) const = 0;
};

}  // namespace pits
