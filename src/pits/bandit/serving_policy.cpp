#include "pits/bandit/serving_policy.h"

#include <algorithm>
#include <cmath>

namespace pits {

Fields fields(BanditConfig& c) {
  return Fields{}
      .add("floor", c.floor, "least share of decisions made uniformly, so that no action's probability is 0",
           between(0, 1))
      .add("propensity", c.propensity,
           "probabilities of decisions: none, exact where they have a closed form, or estimated elsewhere")
      .add("propensity_draws", c.propensity_draws, "simulated decisions of an estimate", between(1, 1e9))
      .add("default_after", c.default_after,
           "decisions after which a reward that has not come counts as default_reward; 0: never", at_least(0))
      .add("default_reward", c.default_reward, "what a reward that never came counts as");
}

std::vector<float> features_of(const ActionSet& actions, Action action) {
  if (actions.features.size() == 0) return {};
  const std::span<const float> z = actions.features.row(action);
  return {z.begin(), z.end()};
}

// The caller's actions without the retired ones; `mask` is where their mask lies if there has to be one.
ActionSet ServingPolicy::admitted(const ActionSet& actions, std::vector<std::uint8_t>& mask) const {
  const bool fits = actions.allowed.empty() || actions.allowed.size() == retired.size();
  if (!fits || std::ranges::find(retired, 1) == retired.end()) return actions;
  mask.resize(retired.size());
  for (Action a = 0; a < mask.size(); ++a) mask[a] = retired[a] == 0 && actions.admits(a) ? 1 : 0;
  ActionSet left = actions;
  left.allowed = mask;
  return left;
}

void ServingPolicy::check(ContextView x, const ActionSet& actions, std::size_t k) const {
  if (k == 0) throw bad_input("a ranking needs at least one place");
  std::vector<std::uint8_t> mask;
  agent->check(Query{.x = x, .actions = admitted(actions, mask)});
}

std::vector<Choice> ServingPolicy::rank(ContextView x, const ActionSet& actions, std::size_t k, DecisionId id) const {
  std::vector<std::uint8_t> mask;
  Query query{.x = x, .actions = admitted(actions, mask), .id = id};
  query.want_propensity = config.propensity != PropensityKind::none;
  const Decision decision = agent->choose(query);
  std::vector<Choice> choices(1, {.id = id, .action = decision.action, .propensity = decision.propensity});
  if (!decision.propensity && config.propensity == PropensityKind::estimated) {
    estimate_propensity(query, choices.front());
  }
  if (k == 1) return choices;
  const std::vector<Action> ranked = ranking(*agent, query, k);
  for (std::size_t i = 1; i < ranked.size(); ++i) choices.push_back({.id = id + i, .action = ranked[i]});
  return choices;
}

// The decision itself counts as one more draw, so that no action that was taken seems impossible.
void ServingPolicy::estimate_propensity(const Query& query, Choice& choice) const {
  std::vector<float> p(query.actions.size(retired.size()));
  const double draws = config.propensity_draws;
  agent->propensities(query, static_cast<std::uint32_t>(draws), p);
  const double own = (draws * p[choice.action] + 1.0) / (draws + 1.0);
  choice.propensity = static_cast<float>(own);
  choice.propensity_error = static_cast<float>(std::sqrt(std::max(own * (1.0 - own), 1.0 / draws) / draws));
}

double ServingPolicy::probabilities(ContextView x, const ActionSet& actions, DecisionId id, std::uint64_t row,
                                    std::span<float> p, Action* chosen) const {
  std::vector<std::uint8_t> mask;
  const Query query{.x = x, .actions = admitted(actions, mask), .id = id};
  return agent->propensities(query, static_cast<std::uint32_t>(config.propensity_draws), p, observed + row, chosen);
}

}  // namespace pits
