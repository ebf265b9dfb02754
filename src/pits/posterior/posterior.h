// The posterior as particles: M networks that a flow moves towards the posterior of the reward, what they have seen,
// the units they see it in, and, where last layers are exact, the regressions on their features. One owner, and one
// function for a training.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "pits/flow/mover.h"
#include "pits/model/reward_model.h"
#include "pits/posterior/forgetting.h"
#include "pits/posterior/history.h"
#include "pits/posterior/last_layers.h"
#include "pits/posterior/likelihood_scale.h"
#include "pits/posterior/mixture.h"
#include "pits/posterior/standardiser.h"
#include "pits/posterior/training.h"

namespace pits {

// The numbers that hidden layers multiply in training; sums are float32.
enum class Products { float32, bf16 };
template <>
inline constexpr auto enum_names<Products> = std::array{"float32", "bf16"};

// How the particles' data and priors differ. Weights: all 1; 1 with probability `keep`, else 0; or Exp(1).
enum class BootstrapWeights { none, kept, exponential };
template <>
inline constexpr auto enum_names<BootstrapWeights> = std::array{"none", "kept", "exponential"};
struct DataPerturbation {
  BootstrapWeights weights = BootstrapWeights::none;
  double keep = 0.95;
  bool rewards = false;  // each particle sees rewards with its own N(0, noise_sd²) added
  bool anchors = false;  // each particle's prior is centred at its own draw from the prior, where it starts
};

struct PosteriorConfig {
  int particles = 20;  // M
  ModelConfig model{};
  FlowConfig flow{};
  OptimizerConfig optimizer{};
  int batch = 512;  // B, drawn with replacement; 0: all observations kept
  LikelihoodScale scale = LikelihoodScale::data;
  Products products = Products::float32;
  Memory memory{};
  DataPerturbation perturbation{};
  UnitsKind units = UnitsKind::raw;
  LastLayerConfig last_layer{};
  Training training{};
  double keep_units = 1.0;  // dropout in training: the probability that a hidden unit stays; with one particle only
};
Fields fields(PosteriorConfig& config);           // all
Fields network_fields(PosteriorConfig& config);   // of one network: no particles, flow, perturbation, units, last layer
Fields particle_fields(PosteriorConfig& config);  // those, and particles, flow and units; no training

// Throws where settings contradict each other, or the model.
void check_settings(const PosteriorConfig& config, const RewardModel& model);
// Steps of a training: 0 for a linear model with an exact last layer, which has nothing to train.
int training_steps(const PosteriorConfig& config);

class Posterior {
 public:
  Posterior(const PosteriorConfig& config, std::size_t context_size, std::size_t actions, const Address& address);

  // Stores the observation, then trains if that is due and `may_train`. `stored` is called between the two. True if it
  // trained.
  bool learn(const Observation& observation, bool may_train = true, const std::function<void()>& stored = {});
  // For one that may not: whether learn() would have trained by now.
  bool training_due() const;
  // Parts of learn. train(): units are refreshed, the networks move by the flow, the last layers are fitted.
  // A training that fails is undone and throws; of exact last layers those that it has fitted stay.
  void observe(const Observation& observation);
  void train() { train(training_steps(config_)); }
  void train(int steps);

  // Rewards of every action at x by particle i, (K), and by all of them, (M,K); of a mixture, by draw i and by all
  // draws, (rows,K). In the networks' units.
  void values(std::size_t i, std::span<const float> x, std::span<float> out) const;
  const Matrix<float>& all_values(std::span<const float> x) const;  // valid until this thread asks again
  // What the models of a mixture expect, weighted: rewards of every action at x, (K), in the networks' units.
  void mean_values(std::span<const float> x, std::span<double> out) const;
  // The first row of all_values that is particle i's.
  std::size_t first_row(std::size_t i) const { return mixture_ ? i * mixture_->draws() : i; }
  // Whether a particle's values depend on the other particles.
  bool coupled() const { return mixture_ || (last_layers_ && !last_layers_->sampled().independent()); }
  // Weight of each row of all_values; empty: all the same.
  std::span<const double> row_weights() const { return mixture_ ? mixture_->weights() : std::span<const double>{}; }
  std::size_t rows() const { return mixture_ ? mixture_->weights().size() : theta_.rows(); }
  const Mixture* mixture() const { return mixture_ ? &*mixture_ : nullptr; }
  // The same of one particle under a fresh draw from its regressions (last_layer.draws = per-decision).
  void sample(std::size_t i, std::span<const float> x, Stream& stream, std::span<double> out) const;
  bool draws_per_decision() const { return last_layers_ && config_.last_layer.draws == HeadDraws::per_decision; }

  const PosteriorConfig& config() const { return config_; }
  const RewardModel& model() const { return model_; }
  const History& history() const { return history_; }
  const Standardiser& standardiser() const { return standardiser_; }
  const LastLayers* last_layers() const { return last_layers_ ? &*last_layers_ : nullptr; }
  ParticlesView particles() const { return theta_; }
  std::int64_t steps_done() const { return mover_.steps_done(); }
  std::uint64_t trained_at() const { return trained_at_; }  // observations there were at the last training
  // Standard deviation of an action's rewards as a particle has it, in the rewards' own units.
  double noise_sd(std::size_t particle, std::size_t action) const;
  // What would move the particles in the next step, with the score of all observations instead of a minibatch's, or
  // of 4096 of them where there are more. Needs at least one observation.
  Forces forces() const;

  void state(Archive& archive);

  // n more actions for every head: their parameters are drawn as at the start, all others stay as they are. Returns
  // where the parameters lie now.
  ParameterMap add_actions(std::size_t n);

 private:
  struct Buffers {
    Matrix<float> score;  // (M,P)
    Minibatch batch;
    std::vector<Network::Workspace> networks;  // one per thread that scores particles
    std::vector<float> noise;                  // (M) or empty
  };

  void own_values(std::size_t i, std::span<const float> z, std::span<float> out) const;
  // σ of every particle's likelihood in a training, (M); empty: the model's. `width`: of the last layers' unit.
  void find_training_noise(double width, std::vector<float>& noise) const;
  void refit(int steps);
  void move(int steps);
  void train_step();
  void score_particles();
  void draw_marks();
  void draw_dropout();
  bool forget(const Observation& observation, double error);

  PosteriorConfig config_;
  Standardiser standardiser_;
  RewardModel model_;
  History history_;
  Address address_;
  Mover<float> mover_;
  Particles theta_;                       // (M,P)
  Particles anchors_;                     // (M,P) or empty
  std::vector<float> weights_, offsets_;  // of the observation to come: (M) or empty
  std::optional<LastLayers> last_layers_;
  std::optional<Mixture> mixture_;
  std::optional<Forgetting> forgetting_;
  std::uint64_t units_at_ = 0;  // observations there were when units were refreshed last
  std::uint64_t trained_at_ = 0;
  Scratch<Buffers> buffers_;
};

// Whether all are numbers of a size that a flow can handle; a saved set that is not is refused.
bool usable_parameters(std::span<const float> theta);
void check_saved_parameters(std::span<const float> theta);

}  // namespace pits
