// Agents by name, and events for them to learn from.
#pragma once

#include <string>
#include <vector>

#include "pits/agent/catalogue.h"

namespace pits::test {

constexpr std::size_t context_size = 3;
constexpr std::size_t action_count = 4;

// Every entry with each of its presets: "lin-ts", "pi-ts:paper", ...
inline std::vector<std::string> every_agent() {
  std::vector<std::string> specs;
  for (const AgentEntry& entry : agent_catalogue()) {
    if (entry.presets.empty()) specs.push_back(entry.name);
    for (const Preset& preset : entry.presets) specs.push_back(entry.name + ":" + preset.name);
  }
  return specs;
}

// The catalogue's agent; networks are made small and trained often, so that a few events reach every path.
inline std::unique_ptr<Agent> small_agent(const std::string& spec, const AgentSetup& setup) {
  const auto recipe = find_recipe(agent_catalogue(), "agent", parse_spec(spec));
  Fields fields = recipe->fields();
  for (const auto& [name, value] :
       {std::pair{"hidden", "6"}, {"particles", "5"}, {"batch", "8"}, {"train_every", "7"}, {"train_steps", "2"}}) {
    if (fields.has(name)) fields.set(name, value);
  }
  return recipe->make(setup);
}

inline AgentSetup small_setup(std::uint64_t seed = 1, std::uint32_t realization = 0) {
  return {.context_size = context_size, .actions = action_count, .seed = seed, .realization = realization};
}

struct Event {
  std::vector<float> x;
  Action action;
  float reward;
  Feedback feedback() const { return {.x = x, .action = action, .reward = reward}; }
};

// Rewards lie in 0..1, which every agent admits; the better the larger x[action] is.
inline std::vector<Event> random_events(std::size_t n, std::uint64_t seed, std::size_t d = context_size,
                                        std::size_t K = action_count) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  std::vector<Event> events(n, Event{.x = std::vector<float>(d), .action = 0, .reward = 0.0F});
  for (Event& e : events) {
    for (float& x : e.x) x = static_cast<float>(stream.normal());
    e.action = stream.index(static_cast<std::uint32_t>(K));
    e.reward = e.x[e.action % d] > 0.0F ? 1.0F : 0.25F * stream.uniform_float();
  }
  return events;
}

inline void learn_all(Agent& agent, const std::vector<Event>& events) {
  for (const Event& e : events) {
    const Feedback feedback = e.feedback();
    agent.learn({&feedback, 1});
  }
}

inline std::vector<Action> choices(const Agent& agent, std::size_t n, std::size_t d = context_size) {
  const std::vector<Event> asked = random_events(n, 77, d);
  std::vector<Action> actions;
  for (std::size_t i = 0; i < n; ++i) actions.push_back(agent.choose({.x = asked[i].x, .id = 1000 + i}).action);
  return actions;
}

// The exact probability of every action.
inline std::vector<float> probabilities(const Agent& agent, const Query& query) {
  std::vector<float> p(agent.setup().actions);
  if (agent.propensities(query, 1, p) != 0.0) throw failed("these probabilities are estimates");
  return p;
}

// A gtest name from a spec.
inline std::string plain_name(std::string spec) {
  for (char& c : spec) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return spec;
}

}  // namespace pits::test
