#include "pits/posterior/particles.h"

#include <algorithm>
#include <cmath>

#include "pits/model/dropout.h"

namespace pits {
namespace {

// Squared distances of particles within this bound fit a float; beyond it, or at NaN, no flow has a velocity to offer.
constexpr float largest_parameter = 1e15F;

bool diverged(ParticlesView theta) {
  return !std::ranges::all_of(theta.flat(), [](float x) { return std::abs(x) <= largest_parameter; });
}

float likelihood_scale(LikelihoodScale scale, std::size_t observations, std::size_t batch) {
  switch (scale) {
    case LikelihoodScale::data: return static_cast<float>(observations) / static_cast<float>(batch);
    case LikelihoodScale::minibatch: return 1.0F;
    case LikelihoodScale::mean: return 1.0F / static_cast<float>(batch);
  }
  throw failed("likelihood scale {} is not in the enumeration", static_cast<int>(scale));
}

}  // namespace

const std::vector<std::string>& EnumNames<LikelihoodScale>::names() {
  static const std::vector<std::string> names = {"data", "minibatch", "mean"};
  return names;
}

Fields fields(ParticleConfig& c) {
  return Fields{}
      .add("particles", c.particles, "number of particles M", between(1, 1e6))
      .merge(fields(c.flow))
      .merge(network_fields(c));
}

Fields network_fields(ParticleConfig& c) {
  return Fields{}
      .merge(fields(c.model))
      .merge(fields(c.optimizer))
      .add("batch", c.batch, "observations in a minibatch, drawn with replacement; 0: all of them", at_least(0))
      .add("scale", c.scale, "weight of the minibatch's likelihood: data (t/B), minibatch (1) or mean (1/B)")
      .add("capacity", c.capacity, "observations kept; 0 keeps all", at_least(0));
}

ParticlePosterior::ParticlePosterior(const ParticleConfig& config, std::size_t context_size, std::size_t actions,
                                     std::uint64_t seed, std::uint32_t realization)
    : config_(checked(config)),
      model_(config.model, context_size, actions),
      history_(context_size, actions, static_cast<std::size_t>(config.capacity)),
      address_{.seed = seed, .realization = realization},
      mover_(config.flow, config.optimizer, address_),
      theta_(static_cast<std::size_t>(config.particles), model_.parameters()),
      score_(theta_.rows(), theta_.cols()) {
  if (!(config.keep > 0.0 && config.keep <= 1.0)) {
    throw bad_input("keep must be above 0 and at most 1, not {}", config.keep);
  }
  address_.purpose = Purpose::initial_particles;
  Stream stream(address_);
  model_.initialise(stream, theta_);
}

void ParticlePosterior::observe(const Observation& observation) {
  const float r = observation.reward;
  if (model_.bernoulli() && !(r >= 0.0F && r <= 1.0F)) {
    throw bad_input("a Bernoulli model needs rewards in 0..1, not {}; use model=linear or model=mlp", r);
  }
  history_.add(observation);
}

void ParticlePosterior::train(int steps) {
  if (history_.size() == 0) throw failed("train: no observation yet");
  mover_.begin_training();
  for (int i = 0; i < steps; ++i) {
    train_step();
    if (!diverged(theta_)) continue;
    throw failed("the particles diverged after {} training steps; a smaller step than {} may hold them", steps_done(),
                 config_.optimizer.step);
  }
}

void ParticlePosterior::train_step() {
  address_.step = static_cast<std::uint32_t>(steps_done());
  address_.purpose = Purpose::minibatch;
  Stream draws(address_);
  if (config_.batch == 0) {
    history_.all(batch_);
  } else {
    history_.sample(draws, static_cast<std::size_t>(config_.batch), batch_);
  }
  // The one place where the likelihood is scaled to the t observations.
  batch_.likelihood_scale = likelihood_scale(config_.scale, history_.size(), batch_.size());
  if (config_.keep < 1.0) {
    score_with_dropout();
  } else {
    model_.score(theta_, batch_, workspace_, score_);
  }
  mover_.step(theta_, score_);
}

// Every particle drops units of its own.
void ParticlePosterior::score_with_dropout() {
  address_.purpose = Purpose::agent_private;
  const std::size_t needed = dropout_words(model_.network(), batch_.size());
  std::vector<std::uint32_t> words(needed * theta_.rows());
  fill_words(address_, 0, words);
  for (std::size_t i = 0; i < theta_.rows(); ++i) {
    set_dropout(model_.network(), config_.keep, batch_.size(), std::span(words).subspan(i * needed, needed),
                workspace_.unit_scale);
    const ParticlesView one(theta_.row(i).data(), 1, theta_.cols());
    model_.score(one, batch_, workspace_, {score_.row(i).data(), 1, score_.cols()});
  }
}

}  // namespace pits
