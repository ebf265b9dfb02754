// The posterior as particles: a model, a flow and an optimiser that move M parameter vectors after the history.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pits/flow/mover.h"
#include "pits/model/reward_model.h"
#include "pits/posterior/history.h"
#include "pits/posterior/units.h"

namespace pits {

// What the sum over a minibatch of B of the t observations kept is multiplied by: t/B, which estimates the sum over all
// of them (docs/method.md), 1, as the paper's released code does, or 1/B, the mean that the showdown's networks fit.
enum class LikelihoodScale { data, minibatch, mean };
template <>
struct EnumNames<LikelihoodScale> {
  static const std::vector<std::string>& names();
};

// The numbers that hidden layers multiply in training; sums are float32.
enum class Products { float32, bf16 };
template <>
struct EnumNames<Products> {
  static const std::vector<std::string>& names();
};

// How the particles' data and priors differ; all the same unless an agent says so.
enum class MarkWeights { none, kept, exponential };  // every weight 1; 1 with probability `keep`, else 0; Exp(1)
struct Perturbation {
  MarkWeights weights = MarkWeights::none;
  double keep = 1.0;
  bool rewards = false;  // each particle sees rewards with its own N(0, noise_sd²) added
  bool anchors = false;  // each particle's prior is centred at its own draw from the prior, where it starts
};

struct ParticleConfig {
  int particles = 20;  // M
  ModelConfig model{};
  FlowConfig flow{};
  OptimizerConfig optimizer{};
  int batch = 512;  // B, drawn with replacement; 0: all observations kept
  LikelihoodScale scale = LikelihoodScale::data;
  Products products = Products::float32;
  int capacity = 0;       // observations kept; 0 keeps all
  double discount = 1.0;  // of an observation's weight with every one that follows it
  Perturbation perturbation{};
  UnitsKind units = UnitsKind::raw;
  double keep_units = 1.0;  // dropout in training: the probability that a hidden unit stays; with one particle only
};
Fields fields(ParticleConfig& config);
// Those that make sense for a single network: neither `particles` nor the flow.
Fields network_fields(ParticleConfig& config);
// For agents that decide in the units of the networks.
Fields units_field(ParticleConfig& config);

inline Particles copy_of(ParticlesView theta) {
  Particles copy(theta.rows(), theta.cols());
  std::ranges::copy(theta.flat(), copy.data());
  return copy;
}

class ParticlePosterior {
 public:
  ParticlePosterior(const ParticleConfig& config, std::size_t context_size, std::size_t actions, std::uint64_t seed,
                    std::uint32_t realization);

  void observe(const Observation& observation);
  // `steps` times: minibatch → score → velocity → optimiser. Needs at least one observation. Where noise_sd (M) is
  // given, particle i's likelihood has that noise instead of the model's fixed one.
  void train(int steps, std::span<const float> noise_sd = {});
  // Units are those of all that has arrived, as train() makes them.
  void settle() { units_.settle(); }

  const RewardModel& model() const { return model_; }
  const History& history() const { return history_; }
  const Units& units() const { return units_; }  // in which the networks see contexts and rewards
  double discount() const { return config_.discount; }
  ParticlesView particles() const { return theta_; }
  std::int64_t steps_done() const { return mover_.steps_done(); }
  // What would move the particles in the next step, with the score of all observations instead of a minibatch's, or
  // of 4096 of them where there are more. Needs at least one observation.
  Forces forces(std::span<const float> noise_sd = {}) const;

  void state(Archive& archive) { archive(history_, units_, mover_, theta_, anchors_); }

  // n more actions for every head: their parameters are drawn as at the start, all others stay as they are. Returns
  // where the parameters lie now.
  ParameterMap add_actions(std::size_t n);

 private:
  void train_step(std::span<const float> noise_sd);
  void score_particles(std::span<const float> noise_sd);
  void draw_marks();
  void draw_dropout();

  ParticleConfig config_;
  RewardModel model_;
  History history_;
  Units units_;
  Address address_;
  Mover<float> mover_;
  Particles theta_;                       // (M,P)
  Matrix<float> score_;                   // (M,P)
  Particles anchors_;                     // (M,P) or empty
  std::vector<float> weights_, offsets_;  // of the observation to come: (M) or empty
  Minibatch batch_;
  std::vector<Network::Workspace> workspaces_{1};  // one for each thread that scores particles
};

}  // namespace pits
