// How a product decides: by an agent, without the retired actions, and with probabilities as the settings say.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pits/agent/agent.h"
#include "pits/core/fields.h"

namespace pits {

// Whether decisions come with their probabilities: not at all, where they have a closed form, or always, by simulated
// decisions where they have none.
enum class PropensityKind { none, exact, estimated };
template <>
inline constexpr auto enum_names<PropensityKind> = std::array{"none", "exact", "estimated"};

struct BanditConfig {
  double floor = 0.0;  // the least share of decisions made uniformly; an agent's own floor may be higher
  PropensityKind propensity = PropensityKind::exact;
  int propensity_draws = 1000;  // simulated decisions of an estimate
  int default_after = 0;        // decisions after which a reward that has not come counts as the default; 0: never
  double default_reward = 0.0;  // and what it counts as
};
Fields fields(BanditConfig& config);

struct Choice {
  DecisionId id = 0;
  Action action = 0;
  std::optional<float> propensity{};
  float propensity_error = 0.0F;  // standard error; 0: exact
};

// The features of an action in a set that has them, a row for every action; none otherwise.
std::vector<float> features_of(const ActionSet& actions, Action action);

struct ServingPolicy {
  std::unique_ptr<Agent> agent;
  BanditConfig config;
  std::vector<std::uint8_t> retired;  // (K) 1: retired
  std::uint64_t observed = 0;         // rounds learned that another policy decided

  ServingPolicy copy() const { return {agent->clone(), config, retired, observed}; }
  // Becomes a copy of another state of the same policy.
  void assign(const ServingPolicy& other) {
    agent->assign(*other.agent);
    config = other.config;
    retired = other.retired;
    observed = other.observed;
  }

  // Throws unless x, actions and k are valid; rank() does not check them.
  void check(ContextView x, const ActionSet& actions, std::size_t k) const;
  // The best action, the next best by the same draws, and so on: k of them, or as many as are allowed. All draws use
  // the address `id`; the choices get the ids id, id + 1, ... Only the first has a propensity.
  std::vector<Choice> rank(ContextView x, const ActionSet& actions, std::size_t k, DecisionId id) const;
  // Of every action, p (K), in decision `id`. Returns the largest standard error; those of different rows are
  // independent. `chosen` gets the action that rank() puts first.
  double probabilities(ContextView x, const ActionSet& actions, DecisionId id, std::uint64_t row, std::span<float> p,
                       Action* chosen = nullptr) const;

 private:
  ActionSet admitted(const ActionSet& actions, std::vector<std::uint8_t>& mask) const;
  void estimate_propensity(const Query& query, Choice& choice) const;
};

}  // namespace pits
