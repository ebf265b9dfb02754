// Exits with 0 when an agent and an environment of the installed library meet, and the agent learns.
#include <pits/agent/catalogue.h>
#include <pits/environment/catalogue.h>
#include <pits/experiment/loop.h>
#include <pits/version.h>

#include <cstdio>

int main() {
  const auto environment =
      pits::find_recipe(pits::environment_catalogue(), "environment", pits::parse_spec("linear"))->make({.steps = 500});
  const auto agent = pits::find_recipe(pits::agent_catalogue(), "agent", pits::parse_spec("lin-ts"))
                         ->make({.context_size = environment->context_size(), .actions = environment->actions()});
  const pits::Trajectory path = pits::run_rounds(*agent, *environment, 500);
  std::printf("pits %s: %.1f %% of the regret of uniform play\n", pits::version, path.normalized_regret());
  return path.normalized_regret() < 50.0 ? 0 : 1;
}
