#include "pits/experiment/config.h"

#include <algorithm>
#include <array>

namespace pits {

Fields fields(ExperimentConfig& c) {
  return Fields{}
      .add("steps", c.steps, "rounds T", between(1, 4e9))
      .add("realizations", c.realizations, "independent repetitions R", between(1, 1e6))
      .add("seed", c.seed, "seed of every random draw", at_least(0))
      .add("agents", c.agents, "NAME[:PRESET][,field=value...]; repeat for more agents")
      .add("environments", c.environments, "NAME[:PRESET][,field=value...]; repeat for more environments")
      .add("set", c.set, "AGENT.field=value for every agent of that name")
      .add("set_env", c.set_env, "field=value for the environments that have it, or ENV.field=value")
      .add("feedback", c.feedback,
           "whose rewards agents learn after a round: that of the action played, or those of all actions (full "
           "information)")
      .add("regret", c.regret, "what regret counts: the rewards paid, or their means in that context (less noise)")
      .add("training_delay", c.training_delay,
           "observations between a training and its adoption, as in a service that trains beside the rewards; 0: in "
           "line",
           between(0, 4e9))
      .add("compare", c.compare, "also report the differences of all agents to this one, paired over realizations")
      .add("probe", c.probe, "posterior: also compare posteriors with the exact one (linear problems)")
      .add("diagnostics", c.diagnostics,
           "also report the health of particles: how they differ, what keeps them apart, whether rewards fall where "
           "they predict them (docs/diagnostics.md)")
      .add("device", c.device,
           "where cells are computed; cuda: on the GPU; auto: those of agents that have a GPU version on the GPU, if "
           "there is one")
      .add("precision", c.precision, "products on the GPU; float32 takes about twice as long")
      .add("data_dir", c.data_dir, "where data files are looked for first, before $PITS_DATA");
}

bool is_recorded(const Field& field) {
  return field.name != "set" && field.name != "set_env" && field.name != "data_dir";
}

bool is_always_recorded(const Field& field) {
  constexpr std::array names = {"agents", "environments", "steps", "realizations", "seed"};
  return std::ranges::find(names, field.name) != names.end();
}

}  // namespace pits
