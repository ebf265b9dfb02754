// The loop: one agent meets one environment for T rounds.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pits/agent/agent.h"
#include "pits/core/fields.h"
#include "pits/environment/environment.h"
#include "pits/experiment/health.h"

namespace pits {

// How far an agent's posterior is from the exact one, and how far as many exact draws would be.
struct Reading {
  double w2, floor;
};

struct Trajectory {
  std::size_t rounds = 0;
  double regret = 0.0;               // Σ_t best_t − r_t
  double uniform_regret = 0.0;       // Σ_t best_t − mean_a r_ta: what uniform play pays on the same rounds
  std::vector<double> curve;         // cumulative regret at curve_rounds(rounds)
  std::vector<std::uint64_t> pulls;  // (K)
  std::vector<Reading> readings{};   // at probe_rounds(rounds), where a probe looked; else empty
  Health health{};                   // where it was asked for and there are particles
  double seconds = 0.0;              // CPU time of choose and learn

  double normalized_regret() const { return 100.0 * regret / uniform_regret; }
};

// The rounds, counted from 1, at which a curve is recorded: all of them up to 200, else 200 evenly spaced.
std::vector<std::size_t> curve_rounds(std::size_t rounds);

// Whose rewards an agent learns after a round: that of the action it played, as a bandit does, or those of all actions
// 0..K−1 in this order, each as an event of its own with the round's id (full information).
enum class Revealed { played, all };
template <>
struct EnumNames<Revealed> {
  static const std::vector<std::string>& names();
};

// Called every few rounds with the number done since the last call; may throw to stop the run.
using RoundsDone = std::function<void(std::size_t)>;

// Looks at the agent from outside; costs it no time and no random draws.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual void observe(const Feedback& event) = 0;
  virtual Reading measure(const Agent& agent) = 0;
};

// The rounds, counted from 1, after which a probe measures: 20 of them, evenly spaced in log t from 20 on.
std::vector<std::size_t> probe_rounds(std::size_t rounds);

class HealthProbe;

// Those who look on, each one or none.
struct Observers {
  Probe* probe = nullptr;
  HealthProbe* health = nullptr;
};

Trajectory run_rounds(
    Agent& agent, const Environment& environment, std::size_t steps, const RoundsDone& done = [](std::size_t) {},
    const Observers& observers = {}, Revealed feedback = Revealed::played);

}  // namespace pits
