// The priors of a mixture's coefficients.
#include "pits/posterior/mixture.h"

namespace pits {
namespace {

using C = MixtureConstants;

}  // namespace

// Where contexts tell nothing, precisions must be free to grow: exploration in all their directions is what costs.
std::vector<CoefficientGroup> network_groups(const LastLayerConfig& config, const Network& network) {
  std::vector<CoefficientGroup> groups = coefficient_groups(config, network);
  for (auto group = groups.begin(); group + 1 < groups.end(); ++group) group->variance = C::coefficient_variance;
  return groups;
}

std::vector<CoefficientGroup> linear_groups(std::size_t d) {
  const auto group = [](std::size_t first, std::size_t count, const PrecisionBounds& bounds) {
    return CoefficientGroup{.first = static_cast<std::ptrdiff_t>(first),
                            .count = static_cast<std::ptrdiff_t>(count),
                            .precision = bounds.start,
                            .low = bounds.low,
                            .high = bounds.high};
  };
  std::vector<CoefficientGroup> groups;
  if (d > 0) {
    groups.push_back(group(0, d, C::linear_precision));
    groups[0].weight = C::linear_variance_weight;
    groups[0].variance = C::linear_variance;
  }
  groups.push_back(group(d, 1, LastLayerConstants::unit_precision));
  return groups;
}

}  // namespace pits
