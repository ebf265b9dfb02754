// Particle-interactive Thompson sampling, the paper's Algorithm 1: draw one particle, play its best action, store
// what happened, and move the particles by a flow when training is due.
#pragma once

#include <memory>
#include <optional>

#include "pits/agent/particle_vote.h"

namespace pits {

struct PiTsConfig {
  ParticleConfig posterior{};
  LastLayerConfig last_layer{};
  int initial_pulls = 2;     // forced pulls of each action
  int train_every = 20;      // rounds between trainings
  int train_first = 0;       // the first ones are this many apart, then a tenth of the rounds so far; 0: train_every
  double train_share = 0.0;  // late ones are at least this share of the rounds that are remembered apart
  int train_steps = 20;      // steps of the flow in a training
  double floor = 0.0;        // ε: the least probability of an action is ε/K
  double floor_decay = 0.0;  // ε = floor/(1 + floor_decay·t) after t rounds
};
Fields fields(PiTsConfig& config);
// Those of forced pulls, trainings and the floor.
Fields round_fields(PiTsConfig& config);

// `auto`: everything in units that the data give, last layers exact (docs/regret.md). `fast`: the same with less work.
// `paper`: Eq. 6 with the likelihood scaled by t/B. `released`: the authors' code, which made the paper's table.
PiTsConfig pi_ts_preset(std::string_view name);

// lin-ts:auto, regressions on the contexts: particles of a linear model with exact last layers differ by their draws
// alone, and nothing else is trained.
PiTsConfig linear_auto_preset(std::string_view name);

// Rounds between the training after round t and the next.
std::uint64_t training_interval(const PiTsConfig& config, std::uint64_t t);

// Steps of a training: none where the last layer is exact and the only one.
int training_steps(const PiTsConfig& config);

class PiTs : public Agent {
 public:
  PiTs(const PiTsConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;
  bool draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const override;
  std::unique_ptr<const Policy> snapshot() const override { return frozen(vote()); }
  void state(Archive& archive) override;
  void add_actions(std::size_t n) override;
  double propensities(const Query& query, std::uint32_t draws, std::span<float> p) const override;

  std::vector<float> probabilities(const Query& query) const;
  // What would move the particles in the next training.
  Forces forces() const;
  double noise_sd(std::size_t particle, Action action) const;  // of the action's rewards, as the particle has it
  const ParticlePosterior& posterior() const { return posterior_; }
  const LastLayers* last_layers() const { return last_layers_ ? &*last_layers_ : nullptr; }
  const PiTsConfig& config() const { return config_; }
  std::uint64_t trained_at() const { return trained_at_; }

 private:
  ParticleVote vote() const;
  void train();
  // σ of every particle's likelihood in a training, (M); empty: the model's. `width`: of the last layers' unit.
  void find_training_noise(double width, std::vector<float>& noise) const;

  PiTsConfig config_;
  AgentSetup setup_;
  ParticlePosterior posterior_;
  std::optional<LastLayers> last_layers_;
  std::uint64_t trained_at_ = 0;       // observations there were at the last training
  std::vector<float> training_noise_;  // scratch
};

}  // namespace pits
