#include "pits/bandit/decision_rule.h"

#include <algorithm>
#include <cmath>

namespace pits {

const std::vector<std::string>& EnumNames<PropensityKind>::names() {
  static const std::vector<std::string> names = {"none", "exact", "estimated"};
  return names;
}

Fields fields(BanditConfig& c) {
  return Fields{}
      .add("floor", c.floor, "share of decisions left to chance, so that no action's probability is 0", between(0, 1))
      .add("propensity", c.propensity,
           "probabilities of decisions: none, exact where there are, or estimated elsewhere")
      .add("propensity_draws", c.propensity_draws, "imagined decisions of an estimate", between(1, 1e9))
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
ActionSet DecisionRule::admitted(const ActionSet& actions, std::vector<std::uint8_t>& mask) const {
  const bool fits = actions.allowed.empty() || actions.allowed.size() == retired.size();
  if (!fits || std::ranges::find(retired, 1) == retired.end()) return actions;
  mask.resize(retired.size());
  for (Action a = 0; a < mask.size(); ++a) mask[a] = retired[a] == 0 && actions.admits(a) ? 1 : 0;
  ActionSet left = actions;
  left.allowed = mask;
  return left;
}

// Where a decision is left to chance: the stream that goes on to choose its actions.
std::optional<Stream> DecisionRule::exploration(DecisionId id) const {
  if (config.floor == 0.0) return std::nullopt;
  Stream stream = decision_stream(setup, id, Purpose::exploration);
  return stream.uniform() < config.floor ? std::optional(stream) : std::nullopt;
}

// Each place takes one of those that the places before have left, all equally likely.
void DecisionRule::explore(Stream& stream, const ActionSet& actions, std::vector<Choice>& choices) const {
  std::vector<std::uint8_t> left(setup.actions);
  for (Action a = 0; a < left.size(); ++a) left[a] = actions.admits(a) ? 1 : 0;
  for (Choice& choice : choices) {
    choice.action = random_action(stream, {left}, setup.actions);
    left[choice.action] = 0;
  }
}

void DecisionRule::check(ContextView x, const ActionSet& actions, std::size_t k) const {
  if (k == 0) throw bad_input("a ranking needs at least one place");
  std::vector<std::uint8_t> mask;
  const Query query{.x = x, .actions = admitted(actions, mask)};
  check_query(query, setup);
  policy.check(query);
  const ConstMatrixView<float>& z = actions.features;
  if (z.size() > 0 && z.rows() != setup.actions) {
    throw bad_input("features must have a row for each of {} actions, not {}", setup.actions, z.rows());
  }
}

std::vector<Choice> DecisionRule::rank(ContextView x, const ActionSet& actions, std::size_t k, DecisionId id) const {
  std::vector<std::uint8_t> mask;
  Query query{.x = x, .actions = admitted(actions, mask), .id = id};
  query.want_propensity = config.propensity != PropensityKind::none;
  const Decision decision = policy.choose(query);
  std::vector<Choice> choices(1, {.id = id, .action = decision.action});
  if (k > 1) {
    const std::vector<Action> ranked = ranking(policy, query, k, setup.actions);
    choices.resize(ranked.size());
    for (std::size_t i = 0; i < ranked.size(); ++i) choices[i] = {.id = id + i, .action = ranked[i]};
  }
  if (auto stream = exploration(id)) explore(*stream, query.actions, choices);
  set_propensity(query, decision, choices.front());
  return choices;
}

// An estimate counts the decision itself as one more draw, so that no action that was taken seems impossible.
void DecisionRule::set_propensity(const Query& query, const Decision& decision, Choice& choice) const {
  const bool exact = decision.propensity.has_value();
  if (config.propensity == PropensityKind::none || (!exact && config.propensity == PropensityKind::exact)) return;
  if (exact && config.floor == 0.0) {
    choice.propensity = decision.propensity;
    return;
  }
  std::vector<float> p(setup.actions);
  const double draws = config.propensity_draws;
  const bool estimated = policy.propensities(query, static_cast<std::uint32_t>(draws), p) > 0.0;
  double own = p[choice.action];
  if (estimated) {
    own = (draws * own + (decision.action == choice.action ? 1.0 : 0.0)) / (draws + 1.0);
    const double variance = std::max(own * (1.0 - own), 1.0 / draws);
    choice.propensity_error = static_cast<float>((1.0 - config.floor) * std::sqrt(variance / draws));
  }
  const auto allowed = static_cast<double>(query.actions.count(setup.actions));
  choice.propensity = static_cast<float>((1.0 - config.floor) * own + config.floor / allowed);
}

double DecisionRule::probabilities(ContextView x, const ActionSet& actions, DecisionId id, std::span<float> p) const {
  std::vector<std::uint8_t> mask;
  const Query query{.x = x, .actions = admitted(actions, mask), .id = id};
  const double error = policy.propensities(query, static_cast<std::uint32_t>(config.propensity_draws), p);
  const auto allowed = static_cast<double>(query.actions.count(setup.actions));
  for (Action a = 0; a < p.size(); ++a) {
    if (!query.actions.admits(a)) continue;
    p[a] = static_cast<float>((1.0 - config.floor) * p[a] + config.floor / allowed);
  }
  return (1.0 - config.floor) * error;
}

}  // namespace pits
