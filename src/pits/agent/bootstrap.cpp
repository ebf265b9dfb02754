#include "pits/agent/bootstrap.h"

namespace pits {
namespace {

PiTsConfig marked(const BootstrapConfig& config) {
  PiTsConfig c = checked(config).networks;
  c.posterior.perturbation = {.weights = MarkWeights::kept, .keep = config.keep};
  return c;
}

}  // namespace

Fields fields(BootstrapConfig& c) {
  return Fields{}
      .merge(fields(c.networks))
      .add("keep", c.keep, "probability that a network keeps an observation",
           Range{.low = 0, .high = 1, .low_open = true});
}

BootstrapConfig bootstrap_preset(std::string_view name) {
  return {.networks = independent_particles(name == "auto" ? 20 : 3, name)};
}

Bootstrap::Bootstrap(const BootstrapConfig& config, const AgentSetup& setup) : PiTs(marked(config), setup) {}

}  // namespace pits
