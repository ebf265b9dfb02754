#include "pits/posterior/particles.h"

#include <algorithm>
#include <cmath>

#include "pits/core/denormals.h"
#include "pits/core/kernels.h"
#include "pits/core/parallel.h"
#include "pits/model/dropout.h"
#include "pits/model/growth.h"

namespace pits {
namespace {

// Where several heads share a minibatch, each owns its part of it.
float likelihood_scale(const ParticleConfig& c, double observations, std::size_t batch) {
  const auto heads = static_cast<float>(c.model.heads);
  switch (c.scale) {
    case LikelihoodScale::data: return static_cast<float>(observations) / static_cast<float>(batch);
    case LikelihoodScale::minibatch: return heads;
    case LikelihoodScale::mean: return heads / static_cast<float>(batch);
  }
  throw failed("likelihood scale {} is not in the enumeration", static_cast<int>(c.scale));
}

MarkCounts mark_counts(const ParticleConfig& c) {
  const auto M = static_cast<std::size_t>(c.particles);
  return {.weights = c.perturbation.weights == MarkWeights::none ? 0 : M, .offsets = c.perturbation.rewards ? M : 0};
}

void check_products(const ParticleConfig& c, const RewardModel& model) {
  if (c.products == Products::float32) return;
  const std::string name = format_value(c.products);
  if (model.network().layers().size() == 1) throw bad_input("products={} needs hidden layers: model=mlp", name);
  if (tiles_in_use()) return;
  throw bad_input("products={} needs a processor with AMX; SIMD target {} has products=float32 only", name,
                  simd_target());
}

void check_perturbation(const ParticleConfig& c, const RewardModel& model) {
  const Perturbation& p = c.perturbation;
  if (!(p.keep > 0.0 && p.keep <= 1.0)) throw bad_input("keep must be above 0 and at most 1, not {}", p.keep);
  if (!(c.keep_units > 0.0 && c.keep_units <= 1.0) || (c.keep_units < 1.0 && c.particles > 1)) {
    throw bad_input("keep_units must be above 0 and at most 1, and 1 where there are several particles, not {}",
                    c.keep_units);
  }
  if (c.discount < 1.0 && c.batch == 0) throw bad_input("discount needs a minibatch: batch of at least 1, not 0");
  if (p.rewards && model.bernoulli()) {
    throw bad_input("perturbed rewards need a Gaussian likelihood: model=linear or model=mlp");
  }
  if (c.units == UnitsKind::standardised && model.bernoulli()) {
    throw bad_input("a Bernoulli model needs its rewards as they come: units=raw");
  }
  if (p.anchors && c.model.init != Init::prior) {
    throw bad_input("priors centred at their own draws need particles that start there: init=prior");
  }
}

}  // namespace

const std::vector<std::string>& EnumNames<LikelihoodScale>::names() {
  static const std::vector<std::string> names = {"data", "minibatch", "mean"};
  return names;
}

const std::vector<std::string>& EnumNames<Products>::names() {
  static const std::vector<std::string> names = {"float32", "bf16"};
  return names;
}

Fields fields(ParticleConfig& c) {
  return Fields{}
      .add("particles", c.particles, "number of particles M", between(1, 1e6))
      .merge(fields(c.flow))
      .merge(network_fields(c));
}

Fields units_field(ParticleConfig& c) {
  return Fields{}.add("units", c.units, "of contexts and rewards: raw, or standardised by what has arrived so far");
}

Fields network_fields(ParticleConfig& c) {
  return Fields{}
      .merge(fields(c.model))
      .merge(fields(c.optimizer))
      .add("batch", c.batch, "observations in a minibatch, drawn with replacement; 0: all of them", at_least(0))
      .add("scale", c.scale, "weight of the minibatch's likelihood: data (t/B), minibatch (1) or mean (1/B)")
      .add("products", c.products, "numbers that layers multiply in training: float32, or bf16, which needs AMX")
      .merge(memory_fields(c.capacity, c.discount));
}

ParticlePosterior::ParticlePosterior(const ParticleConfig& config, std::size_t context_size, std::size_t actions,
                                     std::uint64_t seed, std::uint32_t realization)
    : config_(checked(config)),
      model_(config.model, context_size, actions),
      history_(context_size, actions, static_cast<std::size_t>(config.capacity), mark_counts(config), config.discount),
      units_(config.units, context_size),
      address_{.seed = seed, .realization = realization},
      mover_(config.flow, config.optimizer, address_),
      theta_(static_cast<std::size_t>(config.particles), model_.parameters()),
      score_(theta_.rows(), theta_.cols()) {
  address_.purpose = Purpose::initial_particles;
  Stream stream(address_);
  model_.initialise(stream, theta_);
  check_perturbation(config_, model_);
  check_products(config_, model_);
  batch_.bf16 = config_.products == Products::bf16;
  if (config_.perturbation.anchors) anchors_ = theta_;
  weights_.resize(mark_counts(config_).weights);
  offsets_.resize(mark_counts(config_).offsets);
}

void ParticlePosterior::observe(const Observation& observation) {
  const float r = observation.reward;
  if (model_.bernoulli() && !(r >= 0.0F && r <= 1.0F)) {
    throw bad_input("a Bernoulli model needs rewards in 0..1, not {}; use model=linear or model=mlp", r);
  }
  draw_marks();
  Observation marked = observation;
  marked.weights = weights_;
  marked.offsets = offsets_;
  history_.add(marked);
  units_.observe(observation.context, observation.reward);
}

void ParticlePosterior::draw_marks() {
  if (weights_.empty() && offsets_.empty()) return;
  address_.purpose = Purpose::observation_marks;
  address_.step = static_cast<std::uint32_t>(history_.seen());
  Stream stream(address_);
  const bool kept = config_.perturbation.weights == MarkWeights::kept;
  for (float& w : weights_) {
    const double u = stream.uniform();
    w = kept ? (u < config_.perturbation.keep ? 1.0F : 0.0F) : static_cast<float>(-std::log(u));
  }
  stream.fill_normal(offsets_, static_cast<float>(config_.model.noise_sd));
}

void ParticlePosterior::train(int steps, std::span<const float> noise_sd) {
  if (history_.size() == 0) throw failed("train: no observation yet");
  const FlushDenormals flush;
  units_.settle();
  mover_.begin_training();
  for (int i = 0; i < steps; ++i) {
    train_step(noise_sd);
    if (!mover_.diverged()) continue;
    throw failed("the particles diverged after {} training steps; a smaller step than {} may hold them", steps_done(),
                 config_.optimizer.step);
  }
}

void ParticlePosterior::train_step(std::span<const float> noise_sd) {
  address_.step = static_cast<std::uint32_t>(steps_done());
  address_.purpose = Purpose::minibatch;
  Stream draws(address_);
  if (config_.batch == 0) {
    history_.all(batch_);
  } else {
    history_.sample(draws, static_cast<std::size_t>(config_.batch), batch_);
  }
  units_.apply(batch_);
  batch_.sparse.find(batch_.contexts, batch_.bf16);
  // The one place where the likelihood is scaled to the t observations.
  batch_.likelihood_scale = likelihood_scale(config_, history_.weight(), batch_.size());
  if (config_.keep_units < 1.0) draw_dropout();
  score_particles(noise_sd);
  mover_.step(theta_, score_);
}

Forces ParticlePosterior::forces(std::span<const float> noise_sd) const {
  constexpr std::size_t most = 4096;
  if (history_.size() == 0) throw failed("forces: no observation yet");
  Minibatch batch;
  if (history_.size() <= most && config_.discount == 1.0) {
    history_.all(batch);
  } else {
    Address address = address_;
    address.purpose = Purpose::diagnostics;
    address.step = static_cast<std::uint32_t>(steps_done());
    Stream draws(address);
    history_.sample(draws, most, batch);
  }
  units_.apply(batch);
  batch.sparse.find(batch.contexts);
  const auto trained = config_.batch == 0 ? history_.size() : static_cast<std::size_t>(config_.batch);
  batch.likelihood_scale = likelihood_scale(config_, history_.weight(), trained) * static_cast<float>(trained) /
                           static_cast<float>(batch.size());
  Network::Workspace workspace;
  Matrix<float> score(theta_.rows(), theta_.cols());
  model_.score(theta_, batch, workspace, score, anchors_, noise_sd);
  return mover_.flow().forces(theta_, score);
}

// A particle's score is its own affair: its bits are the same whichever thread computes it.
void ParticlePosterior::score_particles(std::span<const float> noise_sd) {
  const bool marked = batch_.weights.size() > 0 || batch_.offsets.size() > 0;  // rows of all particles
  const std::size_t M = theta_.rows();
  const std::size_t parts = marked ? 1 : std::min(M, static_cast<std::size_t>(spread_threads()));
  if (workspaces_.size() < parts) workspaces_.resize(parts);
  spread_for(parts, [&](std::size_t part) {
    const FlushDenormals flush;
    const std::size_t first = part * M / parts, count = (part + 1) * M / parts - first;
    const ParticlesView anchors = anchors_.size() == 0 ? ParticlesView{} : anchors_.view().row_block(first, count);
    model_.score(theta_.view().row_block(first, count), batch_, workspaces_[part],
                 score_.view().row_block(first, count), anchors,
                 noise_sd.empty() ? noise_sd : noise_sd.subspan(first, count));
  });
}

void ParticlePosterior::draw_dropout() {
  std::vector<std::uint32_t> words(dropout_words(model_.network(), batch_.size()));
  address_.purpose = Purpose::agent_private;
  fill_words(address_, 0, words);
  set_dropout(model_.network(), config_.keep_units, batch_.size(), words, workspaces_.front().unit_scale);
}

ParameterMap ParticlePosterior::add_actions(std::size_t n) {
  const auto heads = static_cast<std::size_t>(config_.model.heads);
  RewardModel after(config_.model, model_.context_size(), model_.actions() + n * heads);
  const ParameterMap outputs = grown_outputs(model_.actions(), n, heads);
  ParameterMap map = grown_parameters(model_.network(), after.network(), outputs);
  const ParameterMap one_noise = {0};
  if (config_.model.noise != Noise::fixed && !model_.bernoulli()) {
    const bool shared = config_.model.noise == Noise::learned;
    map = appended(std::move(map), model_.network().parameters(), shared ? one_noise : outputs);
  }
  address_.purpose = Purpose::initial_particles;
  address_.step = static_cast<std::uint32_t>(after.actions());  // 0: the start of the run
  Stream stream(address_);
  Particles start(theta_.rows(), after.parameters());
  after.initialise(stream, start);
  mover_.grow(map, start);
  anchors_ = grown<float>(anchors_, map, start);
  theta_ = grown<float>(theta_, map, start);
  score_.reshape(theta_.rows(), theta_.cols());
  history_.add_actions(n, heads);
  model_ = std::move(after);
  return map;
}

}  // namespace pits
