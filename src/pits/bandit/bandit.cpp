#include "pits/bandit/bandit.h"

#include <algorithm>
#include <cmath>

namespace pits {
namespace {

std::string preset_of(const Spec& spec) {
  const auto named = [&](const AgentEntry& entry) { return entry.name == spec.name && !entry.presets.empty(); };
  const auto entry = std::ranges::find_if(agent_catalogue(), named);
  const bool implied = spec.preset.empty() && entry != agent_catalogue().end();
  return implied ? entry->presets.front().name : spec.preset;
}

// As the agent is made now, whatever the defaults of a later version are.
Spec spelled_out(const Spec& spec, AgentRecipe& recipe) {
  Spec whole{.text = {}, .name = spec.name, .preset = preset_of(spec), .assignments = {}};
  whole.text = whole.name + (whole.preset.empty() ? "" : ":" + whole.preset);
  for (const Field& field : recipe.fields().list()) {
    whole.assignments.emplace_back(field.name, field.get());
    whole.text += "," + field.name + "=" + field.get();
  }
  return whole;
}

}  // namespace

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

Bandit::Bandit(std::string_view agent, const AgentSetup& setup, const BanditConfig& config)
    : Bandit(parse_spec(agent), setup, config) {}

Bandit::Bandit(Spec spec, const AgentSetup& setup, const BanditConfig& config)
    : setup_(setup), config_(checked(config)), retired_(setup.actions, 0) {
  const auto recipe = find_recipe(agent_catalogue(), "agent", spec);
  spec_ = spelled_out(spec, *recipe);
  agent_ = recipe->make(setup);
}

std::string Bandit::describe() const { return spec_.text; }

// The caller's actions without the retired ones; `mask` is where their mask lies if there has to be one.
ActionSet Bandit::admitted(const ActionSet& actions, std::vector<std::uint8_t>& mask) const {
  const bool fits = actions.allowed.empty() || actions.allowed.size() == retired_.size();
  if (!fits || std::ranges::find(retired_, 1) == retired_.end()) return actions;
  mask.resize(retired_.size());
  for (Action a = 0; a < mask.size(); ++a) mask[a] = retired_[a] == 0 && actions.admits(a) ? 1 : 0;
  ActionSet left = actions;
  left.allowed = mask;
  return left;
}

// Where a decision is left to chance: the stream that goes on to choose its actions.
std::optional<Stream> Bandit::exploration(DecisionId id) const {
  if (config_.floor == 0.0) return std::nullopt;
  Stream stream = decision_stream(setup_, id, Purpose::exploration);
  return stream.uniform() < config_.floor ? std::optional(stream) : std::nullopt;
}

Choice Bandit::decide(ContextView x, const ActionSet& actions) { return rank(x, 1, actions).front(); }

std::vector<Choice> Bandit::rank(ContextView x, std::size_t k, const ActionSet& actions) {
  if (k == 0) throw bad_input("a ranking needs at least one place");
  settle_overdue();
  std::vector<std::uint8_t> mask;
  const DecisionId id = pending_.next_id();
  Query query{.x = x, .actions = admitted(actions, mask), .id = id};
  query.want_propensity = config_.propensity != PropensityKind::none;
  const Decision decision = agent_->choose(query);
  std::vector<Choice> choices(1, {.action = decision.action});
  if (k > 1) {
    choices.clear();
    for (const Action a : ranking(*agent_, query, k, setup_.actions)) choices.push_back({.action = a});
  }
  if (auto stream = exploration(id)) {
    std::vector<std::uint8_t> left(setup_.actions);
    for (Action a = 0; a < left.size(); ++a) left[a] = query.actions.admits(a) ? 1 : 0;
    for (Choice& choice : choices) {
      choice.action = random_action(*stream, {left}, setup_.actions);
      left[choice.action] = 0;
    }
  }
  set_propensity(query, decision, choices.front());
  for (Choice& choice : choices) {
    choice.id = pending_.add({.x = {x.begin(), x.end()}, .action = choice.action});
  }
  return choices;
}

// An estimate counts the decision itself as one more draw, so that no action that was taken seems impossible.
void Bandit::set_propensity(const Query& query, const Decision& decision, Choice& choice) const {
  const bool exact = decision.propensity.has_value();
  if (config_.propensity == PropensityKind::none || (!exact && config_.propensity == PropensityKind::exact)) return;
  if (exact && config_.floor == 0.0) {
    choice.propensity = decision.propensity;
    return;
  }
  std::vector<float> p(setup_.actions);
  const double draws = config_.propensity_draws;
  const bool estimated = agent_->propensities(query, static_cast<std::uint32_t>(draws), p) > 0.0;
  double own = p[choice.action];
  if (estimated) {
    own = (draws * own + (decision.action == choice.action ? 1.0 : 0.0)) / (draws + 1.0);
    choice.propensity_error = static_cast<float>((1.0 - config_.floor) * std::sqrt(own * (1.0 - own) / draws));
  }
  const auto allowed = static_cast<double>(query.actions.count(setup_.actions));
  choice.propensity = static_cast<float>((1.0 - config_.floor) * own + config_.floor / allowed);
}

double Bandit::mixed_propensities(const Query& query, std::span<float> p) const {
  const double error = agent_->propensities(query, static_cast<std::uint32_t>(config_.propensity_draws), p);
  const auto allowed = static_cast<double>(query.actions.count(setup_.actions));
  for (Action a = 0; a < p.size(); ++a) {
    if (!query.actions.admits(a)) continue;
    p[a] = static_cast<float>((1.0 - config_.floor) * p[a] + config_.floor / allowed);
  }
  return (1.0 - config_.floor) * error;
}

double Bandit::probabilities(ContextView x, std::span<float> p, const ActionSet& actions) const {
  if (p.size() != setup_.actions)
    throw bad_input("{} actions have as many probabilities, not {}", setup_.actions, p.size());
  std::vector<std::uint8_t> mask;
  return mixed_propensities({.x = x, .actions = admitted(actions, mask), .id = pending_.next_id()}, p);
}

Action Bandit::add_actions(std::size_t n) {
  const auto first = static_cast<Action>(setup_.actions);
  agent_->add_actions(n);
  setup_.add_actions(n);
  retired_.resize(setup_.actions, 0);
  return first;
}

void Bandit::retire(Action action) {
  if (action >= setup_.actions) throw bad_input("an action must be below {}, not {}", setup_.actions, action);
  const auto left = std::ranges::count(retired_, 0);
  if (retired_[action] == 0 && left == 1) throw bad_input("action {} is the only one that is left", action);
  retired_[action] = 1;
}

void Bandit::settle_overdue() {
  while (config_.default_after > 0) {
    const auto late = pending_.overdue(static_cast<std::uint64_t>(config_.default_after));
    if (!late) return;
    settle(*late, *pending_.find(*late), static_cast<float>(config_.default_reward));
  }
}

bool Bandit::learn(DecisionId id, float reward) {
  const Outcome outcome{.id = id, .reward = reward};
  return learn({&outcome, 1}) == 1;
}

std::size_t Bandit::learn(std::span<const Outcome> outcomes) {
  for (const Outcome& outcome : outcomes) {
    pending_.find(outcome.id);
    if (!std::isfinite(outcome.reward)) {
      throw bad_input("the reward of decision {} must be finite, not {}", outcome.id, outcome.reward);
    }
  }
  std::size_t learned = 0;
  for (const Outcome& outcome : outcomes) {
    const PendingDecision* decision = pending_.find(outcome.id);
    if (decision == nullptr) continue;
    settle(outcome.id, *decision, outcome.reward);
    ++learned;
  }
  return learned;
}

void Bandit::learn(ContextView x, Action action, float reward) {
  const Feedback event{.x = x, .action = action, .reward = reward};
  agent_->learn({&event, 1});
}

void Bandit::settle(DecisionId id, const PendingDecision& decision, float reward) {
  const Feedback event{.x = decision.x, .action = decision.action, .reward = reward, .id = id};
  agent_->learn({&event, 1});
  pending_.remove(id);
}

void Bandit::check(const LoggedRounds& rounds) const {
  const std::size_t n = rounds.contexts.rows();
  const auto fits = [n](std::size_t size) { return size == n; };
  if (!fits(rounds.actions.size()) || !fits(rounds.rewards.size()) ||
      !(rounds.propensities.empty() || fits(rounds.propensities.size()))) {
    throw bad_input("{} logged contexts need as many actions and rewards, and as many propensities or none", n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    check_feedback({.x = rounds.contexts.row(i), .action = rounds.actions[i], .reward = rounds.rewards[i]}, setup_);
  }
  for (const float p : rounds.propensities) {
    if (!(p > 0.0F && p <= 1.0F)) throw bad_input("a logged propensity must be above 0 and at most 1, not {}", p);
  }
}

std::optional<double> Bandit::fit(const LoggedRounds& rounds) {
  check(rounds);
  std::vector<float> p(setup_.actions);
  double weights = 0.0;
  double weighed = 0.0;
  for (std::size_t i = 0; i < rounds.contexts.rows(); ++i) {
    const Action action = rounds.actions[i];
    if (!rounds.propensities.empty()) {
      probabilities(rounds.contexts.row(i), p);
      const double weight = p[action] / rounds.propensities[i];
      weights += weight;
      weighed += weight * rounds.rewards[i];
    }
    learn(rounds.contexts.row(i), action, rounds.rewards[i]);
  }
  return weights > 0.0 ? std::optional(weighed / weights) : std::nullopt;
}

}  // namespace pits
