#include "pits/posterior/last_layer_config.h"

#include "pits/core/fields.h"
#include "pits/model/network.h"

namespace pits {
namespace {

// Where the evidence starts and stays; docs/regret.md has how the bounds were chosen.
CoefficientGroup group(std::size_t first, std::size_t count, const PrecisionBounds& bounds) {
  return {.first = static_cast<std::ptrdiff_t>(first),
          .count = static_cast<std::ptrdiff_t>(count),
          .precision = bounds.start,
          .low = bounds.low,
          .high = bounds.high};
}

}  // namespace

Fields fields(LastLayerConfig& c) {
  return Fields{}
      .add("last_layer", c.kind,
           "trained with the network; exact: a Bayesian regression for every action; mixture: exact, beside a linear "
           "model")
      .add("draws", c.draws, "exact last layer: one draw per particle, held between trainings, or per-decision")
      .add("held_draws", c.held_draws, "mixture: draws of each network and model", between(1, 1e4))
      .add("posterior_scale", c.posterior_scale,
           "held draws: their distance from the mean, in posterior standard deviations", at_least(0))
      .add("mean_shrinkage", c.mean_shrinkage,
           "held draws: share of a particle's difference from the mean of all that is kept; 1: it decides alone",
           between(0, 1))
      .add("scale_prior", c.scale_prior,
           "held draws: how large rewards may be while they have varied little; 1: as those seen", at_least(0))
      .add("noise_shape", c.noise_shape, "exact last layer: shape of the inverse-gamma prior of the noise variance",
           above(0))
      .add("noise_scale", c.noise_scale, "its scale, in the networks' units", above(0))
      .add("evidence", c.evidence, "exact last layer: prior precisions by the evidence, else regression_lambda")
      .add("regression_lambda", c.regression_lambda, "prior precision of the regressions, in units of the noise",
           above(0))
      .add("linear_inputs", c.linear_inputs, "exact last layer: contexts of at most this many numbers are features too",
           at_least(0))
      .add("intercept", c.intercept, "exact last layer: 1 is a feature")
      .add("optimistic", c.optimistic, "held draws: those below the mean count as the mean")
      .add("train_noise", c.train_noise,
           "exact last layer: networks are trained with its noise where that is above noise_sd")
      .renamed("exploration", "posterior_scale")
      .renamed("disagreement", "mean_shrinkage")
      .renamed("doubt", "scale_prior")
      .renamed("a0", "noise_shape")
      .renamed("b0", "noise_scale");
}

bool inputs_are_features(const LastLayerConfig& config, const Network& network) {
  return network.layers().size() > 1 && network.inputs() <= static_cast<std::size_t>(config.linear_inputs);
}

std::vector<CoefficientGroup> coefficient_groups(const LastLayerConfig& config, const Network& network) {
  const PrecisionBounds fixed{config.regression_lambda, config.regression_lambda, config.regression_lambda};
  const auto bounds = [&](const PrecisionBounds& found) { return config.evidence ? found : fixed; };
  const std::size_t units = network.features(), inputs = inputs_are_features(config, network) ? network.inputs() : 0;
  std::vector<CoefficientGroup> groups = {group(0, units, bounds(LastLayerConstants::unit_precision))};
  if (inputs > 0) groups.push_back(group(units, inputs, bounds(LastLayerConstants::input_precision)));
  if (config.intercept) groups.push_back(group(units + inputs, 1, bounds(LastLayerConstants::unit_precision)));
  return groups;
}

}  // namespace pits
