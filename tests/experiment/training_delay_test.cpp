// Trainings that are adopted late, as in a service that trains beside the rewards.
#include <gtest/gtest.h>

#include "pits/agent/catalogue.h"
#include "pits/environment/catalogue.h"
#include "pits/experiment/loop.h"

namespace pits::test {
namespace {

constexpr std::size_t rounds = 120;

std::unique_ptr<Agent> small_agent() {
  const Spec spec = parse_spec("pi-ts,hidden=6,particles=4,train_steps=3");
  return find_recipe(agent_catalogue(), "agent", spec)->make({.context_size = 10, .actions = 8, .seed = 3});
}

std::unique_ptr<Environment> problem() {
  return find_recipe(environment_catalogue(), "environment", parse_spec("linear:d10"))->make({.seed = 3});
}

// The same by a plain loop: a copy is trained at once and learns beside the agent until it takes its place.
TEST(TrainingDelay, IsACopyThatTakesOverLater) {
  constexpr std::size_t delay = 5;
  auto agent = small_agent();
  agent->train_beside();
  std::unique_ptr<Agent> copy;
  std::size_t since = 0;
  std::vector<std::uint64_t> pulls(8);
  const auto environment = problem();
  for (std::size_t t = 0; t < rounds; ++t) {
    Round round;
    environment->draw(t, round);
    const Action action = agent->choose({.x = round.context, .id = t}).action;
    ++pulls[action];
    const Feedback event{
        .x = round.context, .action = action, .reward = static_cast<float>(round.rewards[action]), .id = t};
    agent->learn({&event, 1});
    if (copy) {
      copy->learn({&event, 1});
      if (++since == delay) agent = std::move(copy);
    }
    if (!copy && agent->training_due()) {
      copy = agent->clone();
      copy->train();
      since = 0;
    }
  }
  const auto played = small_agent();
  const Trajectory path = run_rounds(
      *played, *problem(), rounds, [](std::size_t) {}, {}, FeedbackKind::played, RegretOf::rewards, delay);
  EXPECT_EQ(path.pulls, pulls);
  const auto in_line = small_agent();
  EXPECT_NE(run_rounds(*in_line, *problem(), rounds).pulls, pulls);
}

}  // namespace
}  // namespace pits::test
