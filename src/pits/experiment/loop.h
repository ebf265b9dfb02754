// The loop: one agent on one environment for T rounds.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pits/agent/agent.h"
#include "pits/core/fields.h"
#include "pits/environment/environment.h"
#include "pits/experiment/observer.h"

namespace pits {

struct Trajectory {
  std::size_t rounds = 0;
  double regret = 0.0;               // Σ_t best_t − r_t, best_t the largest mean reward of an allowed action
  double uniform_regret = 0.0;       // Σ_t best_t − mean_a r_ta: what uniform play pays on the same rounds
  std::vector<double> curve;         // cumulative regret at curve_rounds(rounds)
  std::vector<std::uint64_t> pulls;  // (K)
  nlohmann::ordered_json observed = nlohmann::ordered_json::object();  // fields that observers add to the cell
  double seconds = 0.0;                                                // CPU time of choose and learn

  double normalized_regret() const { return 100.0 * regret / uniform_regret; }
};

// The rounds, counted from 1, at which a curve is recorded: all of them up to 200, else 200 evenly spaced.
std::vector<std::size_t> curve_rounds(std::size_t rounds);

// Which rewards an agent learns of a round: that of the action it played, as a bandit does, or those of all allowed
// actions in the order of their numbers, each as an event of its own with the round's id (full information).
enum class FeedbackKind { played, all };
template <>
inline constexpr auto enum_names<FeedbackKind> = std::array{"played", "all"};

// What r_t is in the regret: the reward that was paid, or its mean in that context, which has less noise.
enum class RegretOf { rewards, means };
template <>
inline constexpr auto enum_names<RegretOf> = std::array{"rewards", "means"};

// Called every few rounds with the number done since the last call; may throw to stop the run.
using RoundsDone = std::function<void(std::size_t)>;

// Rewards are learned when the environment's timing says: the reward of round t after the decision of round t + delay,
// in batches. What is still outstanding after the last round is not learned. With a training_delay, trainings are those
// of a service that trains beside the rewards (agent/training_beside.h): adopted so many observations after they began.
Trajectory run_rounds(
    Agent& agent, const Environment& environment, std::size_t steps, const RoundsDone& done = [](std::size_t) {},
    std::span<const std::unique_ptr<Observer>> observers = {}, FeedbackKind feedback = FeedbackKind::played,
    RegretOf regret = RegretOf::rewards, std::size_t training_delay = 0);

}  // namespace pits
