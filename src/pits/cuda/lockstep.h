// G copies of a particle agent that step together on the GPU, each in its own realization of a problem.
//
// Rounds do not depend on the actions, so all of them are uploaded at once. Then the GPU alone decides, gathers
// rewards, samples minibatches and moves the particles. The host launches one graph per training, and, with exact last
// layers, two kernels per round. A mixture (three) says after every round whether a realization trains.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "pits/cuda/last_layer/regression.h"
#include "pits/cuda/last_layer/reward_units.h"

namespace pits::cuda {

// What tests look at: the units of a group, and its regressions.
struct UnitNumbers {
  std::vector<RewardUnits> rewards;     // (G)
  std::vector<float> rewards_received;  // (G,T) in units
  std::vector<float> contexts;          // (G,T,d) in units; empty: as they come
};
struct LastLayerNumbers {
  std::vector<double> mean, deviation;   // (G,M,K,F)
  std::vector<double> precision;         // (G,M,groups)
  std::vector<RegressionTotals> totals;  // (G,M,K)
};

struct MixtureNumbers {
  std::vector<float> mean;               // (G,M+1,K,features of the widest set)
  std::vector<double> linear_weight;     // (G)
  std::vector<std::uint32_t> trainings;  // (G)
  std::vector<std::uint32_t> forgotten;  // (G) observations
};

// Memory of the GPU that a group takes.
std::size_t lockstep_bytes(const Settings& settings, std::size_t realizations, std::size_t rounds);

class Lockstep {
 public:
  // Draws the first particles. `realizations` are their numbers, the addresses of their draws.
  Lockstep(const Settings& settings, std::span<const std::uint32_t> realizations, std::size_t rounds);
  ~Lockstep();
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  // The rounds of copy g: contexts (T,d) and rewards (T,K).
  void set_rounds(std::size_t g, std::span<const float> contexts, std::span<const float> rewards);

  // Decides the next rounds up to where a training is due or the rounds end, and trains where it is due. Returns the
  // number of rounds done; 0: there are none left.
  std::size_t advance();

  // The training step after which a parameter of copy g diverged; 0 for none.
  std::vector<std::int32_t> diverged() const;
  // 1 where a precision matrix of copy g's last layers was singular to working precision; empty: it has none.
  std::vector<std::int32_t> singular() const;
  std::vector<std::int32_t> actions() const;  // (G,T)

  // For tests, in the CPU's order of parameters: particles and scores (G,M,P).
  std::vector<float> particles() const;
  std::vector<float> scores() const;
  void set_particles(std::span<const float> theta);
  // Observations of these actions (G,T), whatever the agent would have played.
  void set_history(std::span<const std::int32_t> actions);
  // `steps` training steps on the first `seen` observations.
  void train(int steps, std::size_t seen);
  // The exact last layers: of the first `seen` observations anew, in their units, and of rounds first .. last−1 in
  // addition.
  void fit(std::size_t seen);
  void observe(std::size_t first, std::size_t last);
  UnitNumbers units() const;
  MixtureNumbers mixture() const;
  LastLayerNumbers last_layers() const;

  // Seconds of training steps, of units and last layers anew, of rounds that the agent plays; each done twice, and the
  // second time measured.
  double time_training(int steps, std::size_t seen);
  double time_fit(std::size_t seen);
  double time_rounds(std::size_t first, std::size_t last);

 private:
  template <class Work>
  double timed(const Work& work);
  struct State;
  std::unique_ptr<State> state_;
};

// Free memory of the GPU in use.
std::size_t free_bytes();
void wait_for_gpu();

}  // namespace pits::cuda
