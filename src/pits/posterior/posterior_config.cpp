// The settings of a posterior: their fields, and which of them contradict each other.
#include "pits/core/simd/kernels.h"
#include "pits/posterior/posterior.h"

namespace pits {
namespace {

void check_products(const PosteriorConfig& c, const RewardModel& model) {
  if (c.products == Products::float32) return;
  const std::string name = format_value(c.products);
  if (model.network().layers().size() == 1) throw bad_input("products={} needs hidden layers: model=mlp", name);
  if (tiles_in_use()) return;
  throw bad_input("products={} needs a processor with AMX; SIMD target {} has products=float32 only", name,
                  simd_target());
}

void check_config(const PosteriorConfig& c, const RewardModel& model) {
  const DataPerturbation& p = c.perturbation;
  if (!(c.keep_units > 0.0 && c.keep_units <= 1.0) || (c.keep_units < 1.0 && c.particles > 1)) {
    throw bad_input("keep_units must be above 0 and at most 1, and 1 where there are several particles, not {}",
                    c.keep_units);
  }
  if (c.memory.discount < 1.0 && c.batch == 0)
    throw bad_input("discount needs a minibatch: batch of at least 1, not 0");
  if (c.memory.adaptive && c.last_layer.kind != LastLayerKind::mixture) {
    throw bad_input("adaptive=true needs last_layer=mixture, whose errors show that the world has changed");
  }
  if (p.rewards && model.bernoulli()) {
    throw bad_input("perturbed rewards need a Gaussian likelihood: model=linear or model=mlp");
  }
  if (c.units != UnitsKind::raw && model.bernoulli()) {
    throw bad_input("a Bernoulli model needs its rewards as they are: units=raw");
  }
  if (p.anchors && c.model.init != Init::prior) {
    throw bad_input("priors centred at their own draws need particles that start there: init=prior");
  }
}

void check_mixture(const PosteriorConfig& c, const RewardModel& model) {
  if (model.network().layers().size() == 1) throw bad_input("last_layer=mixture needs hidden layers: model=mlp");
  if (c.units == UnitsKind::raw) throw bad_input("last_layer=mixture needs units=standardised or units=robust");
  if (c.last_layer.draws != HeadDraws::held) throw bad_input("last_layer=mixture holds its draws: draws=held");
  if (!c.last_layer.evidence || !c.last_layer.intercept) {
    throw bad_input("last_layer=mixture has evidence=true and intercept=true");
  }
  if (c.memory.discount < 1.0) throw bad_input("last_layer=mixture forgets by adaptive=true; discount must be 1");
}

void check_last_layer(const PosteriorConfig& c, const RewardModel& model) {
  if (c.last_layer.kind == LastLayerKind::trained) return;
  if (model.bernoulli()) throw bad_input("an exact last layer needs a Gaussian likelihood: model=linear or model=mlp");
  if (c.model.heads > 1) throw bad_input("an exact last layer has one head, not {}", c.model.heads);
  if (c.perturbation.weights != BootstrapWeights::none || c.perturbation.rewards) {
    throw bad_input(
        "an exact last layer sees the data as they are: networks with perturbed data need last_layer=trained");
  }
  if (c.last_layer.kind == LastLayerKind::mixture) check_mixture(c, model);
}

}  // namespace

void check_settings(const PosteriorConfig& config, const RewardModel& model) {
  check_config(config, model);
  check_products(config, model);
  check_last_layer(config, model);
}

Fields fields(PosteriorConfig& c) {
  return Fields{}
      .merge(particle_fields(c))
      .add("weights", c.perturbation.weights,
           "bootstrap: each particle's weights of the observations, all 1 (none), 0 or 1 (kept), or Exp(1)")
      .add("keep", c.perturbation.keep, "weights=kept: probability that a particle keeps an observation",
           {.low = 0.0, .high = 1.0, .low_open = true})
      .add("perturb_rewards", c.perturbation.rewards, "each particle sees rewards with noise of its own added")
      .add("anchors", c.perturbation.anchors, "each particle's prior is centred at the draw where it starts")
      .merge(fields(c.last_layer))
      .merge(fields(c.training));
}

Fields particle_fields(PosteriorConfig& c) {
  return Fields{}
      .add("particles", c.particles, "number of particles M", between(1, 1e6))
      .merge(fields(c.flow))
      .merge(network_fields(c))
      .add("units", c.units,
           "of contexts and rewards: raw, standardised by what has arrived so far, or robust: the same, but levels "
           "such as −999 and heavy tails are kept apart");
}

Fields network_fields(PosteriorConfig& c) {
  return Fields{}
      .merge(fields(c.model))
      .merge(fields(c.optimizer))
      .add("batch", c.batch, "observations in a minibatch, drawn with replacement; 0: all of them", at_least(0))
      .add("scale", c.scale, "weight of the minibatch's likelihood: data (t/B), minibatch (1) or mean (1/B)")
      .add("products", c.products, "numbers that layers multiply in training: float32, or bf16, which needs AMX")
      .merge(fields(c.memory));
}

int training_steps(const PosteriorConfig& c) {
  const bool nothing = c.last_layer.kind == LastLayerKind::exact && c.model.kind == ModelKind::linear;
  return nothing ? 0 : c.training.steps;
}

}  // namespace pits
