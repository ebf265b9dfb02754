// A problem: for every round a context, and the reward and mean reward of every action.
//
// Rounds are drawn by address, so an environment has no state: round t is always the same, in whatever order rounds are
// drawn.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "pits/core/matrix.h"
#include "pits/core/random.h"

namespace pits {

struct Round {
  std::vector<float> context;           // (d)
  std::vector<double> rewards;          // (K) what each action would pay
  std::vector<double> mean_rewards;     // (K) what it pays on average in this context
  std::vector<std::uint8_t> allowed{};  // (K) non-zero: the action may be played; empty: all may

  bool admits(std::size_t action) const { return allowed.empty() || allowed[action] != 0; }
  double best_mean() const;  // of the allowed actions; the regret of a round is best_mean() − rewards[a]
  // What uniform play of the allowed actions earns on average, of rewards or mean_rewards.
  double even(std::span<const double> paid) const;
};

// When an agent learns a reward: `delay` decisions later, in batches of `batch` rewards, in the order of the rounds.
struct RewardTiming {
  int delay = 0;
  int batch = 1;

  bool immediate() const { return delay == 0 && batch == 1; }
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
  // What a table of results must say about the data, e.g. that it is a subset; empty: nothing.
  virtual std::string remark() const { return {}; }
  // SHA-256 of the data that the rounds come from; empty for a formula.
  virtual std::string data_sha256() const { return {}; }
  // Whether a round may forbid an action.
  virtual bool masks_actions() const { return false; }
  virtual RewardTiming timing() const { return {}; }
  virtual void draw(std::size_t t, Round& round) const = 0;
};

// The draws of round t. Throws from t = 2³² on, where addresses would repeat.
Stream round_stream(const EnvironmentSetup& setup, Purpose purpose, std::size_t t);

}  // namespace pits
