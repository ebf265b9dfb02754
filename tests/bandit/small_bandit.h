// Bandits with small networks that are trained often, so that a few rounds reach every path.
#pragma once

#include "agent/play.h"
#include "pits/bandit/bandit.h"

namespace pits::test {

inline std::string small_spec(const std::string& spec) {
  std::string text = spec;
  Fields fields = find_recipe(agent_catalogue(), "agent", parse_spec(spec))->fields();
  for (const auto& [name, value] :
       {std::pair{"hidden", "6"}, {"particles", "5"}, {"batch", "8"}, {"train_every", "7"}, {"train_steps", "2"}}) {
    if (fields.has(name)) text += std::string(",") + name + "=" + value;
  }
  return text;
}

// Rounds first .. last−1; every third reward comes four rounds late. The decisions made.
inline std::vector<Action> play(Bandit& bandit, std::size_t first, std::size_t last) {
  const std::vector<Event> rounds = random_events(last, 21);
  std::vector<Action> played;
  for (std::size_t t = first; t < last; ++t) {
    const Choice choice = bandit.decide(rounds[t].x);
    played.push_back(choice.action);
    const float reward = rounds[t].x[choice.action % context_size] > 0.0F ? 1.0F : 0.25F;
    if (t % 3 != 0) bandit.learn(t, reward);
    if (t >= 4) bandit.learn(t - 4, rounds[t].reward);
  }
  return played;
}

inline std::string agent_state(const Bandit& bandit) {
  Archive archive;
  const_cast<Agent&>(bandit.agent()).archive(archive);  // a writing archive changes nothing
  return archive.bytes();
}

}  // namespace pits::test
