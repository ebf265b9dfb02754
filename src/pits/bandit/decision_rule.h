// How a bandit decides by a policy: not for retired actions, some decisions left to chance, and how probable each was.
#pragma once

#include <optional>
#include <vector>

#include "pits/agent/agent.h"
#include "pits/core/fields.h"

namespace pits {

// Whether decisions come with their probabilities: not at all, where they have an exact form, or always, by imagined
// decisions where they have none.
enum class PropensityKind { none, exact, estimated };
template <>
struct EnumNames<PropensityKind> {
  static const std::vector<std::string>& names();
};

struct BanditConfig {
  double floor = 0.0;  // ε: this share of decisions is left to chance, so that no allowed action has less than ε/K
  PropensityKind propensity = PropensityKind::exact;
  int propensity_draws = 1000;  // imagined decisions of an estimate
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

// By things that somebody else owns.
struct DecisionRule {
  const Policy& policy;
  const AgentSetup& setup;
  const BanditConfig& config;
  std::span<const std::uint8_t> retired;  // (K) 1: retired

  // Throws unless these are arguments for a ranking of k places, which takes them as they are.
  void check(ContextView x, const ActionSet& actions, std::size_t k) const;
  // The best action, the next best by the same draws, and so on: k of them, or as many as are allowed. All draws have
  // the address `id`, the places of the ranking the ids that follow it.
  std::vector<Choice> rank(ContextView x, const ActionSet& actions, std::size_t k, DecisionId id) const;
  // Of every action, p (K). Returns the largest standard error.
  double probabilities(ContextView x, const ActionSet& actions, DecisionId id, std::span<float> p) const;

 private:
  ActionSet admitted(const ActionSet& actions, std::vector<std::uint8_t>& mask) const;
  std::optional<Stream> exploration(DecisionId id) const;
  void explore(Stream& stream, const ActionSet& actions, std::vector<Choice>& choices) const;
  void set_propensity(const Query& query, const Decision& decision, Choice& choice) const;
};

}  // namespace pits
