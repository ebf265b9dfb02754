#include "pits/posterior/last_layer_config.h"

namespace pits {
namespace {

// The bounds are those of the search that chose the other settings (docs/regret.md).
CoefficientGroup group(std::size_t first, std::size_t count, double low, double high, double start) {
  return {.first = static_cast<Eigen::Index>(first),
          .count = static_cast<Eigen::Index>(count),
          .precision = start,
          .low = low,
          .high = high};
}

}  // namespace

const std::vector<std::string>& EnumNames<LastLayerKind>::names() {
  static const std::vector<std::string> names = {"trained", "exact"};
  return names;
}

Fields fields(LastLayerConfig& c) {
  return Fields{}
      .add("last_layer", c.kind, "trained with the network, or exact: a Bayesian regression for every action")
      .add("exploration", c.exploration, "exact last layer: spread of its draws, in posterior standard deviations",
           at_least(0))
      .add("disagreement", c.disagreement,
           "exact last layer: share of a network's difference from the mean of all that counts; 1: it decides alone",
           between(0, 1))
      .add("doubt", c.doubt,
           "exact last layer: how large rewards may be while their scale is not known; 1: as those seen", at_least(0))
      .add("noise_shape", c.noise_shape, "exact last layer: shape of the inverse-gamma prior of the noise variance",
           above(0))
      .add("noise_scale", c.noise_scale, "its scale, in the networks' units", above(0))
      .add("linear_inputs", c.linear_inputs, "exact last layer: contexts of at most this many numbers are features too",
           at_least(0))
      .add("optimistic", c.optimistic, "exact last layer: draws below the mean count as the mean")
      .add("train_noise", c.train_noise,
           "exact last layer: networks are trained with its noise where that is above noise_sd");
}

bool inputs_are_features(const LastLayerConfig& config, const Network& network) {
  return network.layers().size() > 1 && network.inputs() <= static_cast<std::size_t>(config.linear_inputs);
}

std::vector<CoefficientGroup> coefficient_groups(const LastLayerConfig& config, const Network& network) {
  const std::size_t units = network.features(), inputs = inputs_are_features(config, network) ? network.inputs() : 0;
  std::vector<CoefficientGroup> groups = {group(0, units, 0.125, 512.0, 1.0)};
  if (inputs > 0) groups.push_back(group(units, inputs, 2.5e-4, 4096.0, 16.0));
  groups.push_back(group(units + inputs, 1, 0.125, 512.0, 1.0));
  return groups;
}

}  // namespace pits
