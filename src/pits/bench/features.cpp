// One decision among thousands of actions that are known by their features, with its probability.
#include <fmt/format.h>

#include "pits/agent/catalogue.h"
#include "pits/bench/cases.h"
#include "pits/bench/singles.h"

namespace pits::bench {
namespace {

constexpr std::size_t actions = 10000, action_features = 64, context_size = 16, particles = 20, units = 50;

std::unique_ptr<Agent> agent() {
  const std::string spec =
      fmt::format("feature-ts,action_features={},particles={},hidden={}", action_features, particles, units);
  return find_recipe(agent_catalogue(), "agent", parse_spec(spec))
      ->make({.context_size = context_size, .actions = actions});
}

void decide(benchmark::State& state) {
  const std::unique_ptr<Agent> features_ts = agent();
  Matrix<float> z(actions, action_features), x(1, context_size);
  Stream draws({.purpose = Purpose::target_sample});
  draws.fill_normal(z.flat());
  draws.fill_normal(x.flat());
  time_singles(state, [&](std::size_t n) {
    return features_ts->choose({.x = x.row(0), .actions = {.features = z}, .id = n, .want_propensity = true}).action;
  });
}

}  // namespace

std::vector<Case> feature_cases() {
  // What the context adds to the hidden units is the same for all actions.
  const double passes = 2.0 * particles * (actions * (action_features * units + units) + context_size * units);
  return {
      {.name = fmt::format("decision-features/K={},z={},d={},M={}", actions, action_features, context_size, particles),
       .body = decide,
       .operations = passes,
       .timing = Timing::manual,
       .numpy = fmt::format("features:{}:{}:{}:{}:{}", actions, action_features, context_size, units, particles)}};
}

}  // namespace pits::bench
