// Exits with 0 when an agent made through the installed library learns which of two actions pays.
#include <pits/agent/catalogue.h>
#include <pits/version.h>

#include <cstdio>

int main() {
  const auto recipe = pits::find_recipe(pits::agent_catalogue(), "agent", pits::parse_spec("lin-ts"));
  const auto agent = recipe->make({.context_size = 1, .actions = 2});
  const float x[] = {1.0F};
  int paid = 0;
  for (pits::DecisionId t = 0; t < 200; ++t) {
    const pits::Decision decision = agent->choose({.x = x, .id = t});
    const pits::Feedback event{.x = x, .action = decision.action, .reward = decision.action == 1 ? 1.0F : 0.0F};
    agent->learn({&event, 1});
    paid += t >= 100 && decision.action == 1;
  }
  std::printf("pits %s: %d of the last 100 choices paid\n", pits::version, paid);
  return paid > 90 ? 0 : 1;
}
