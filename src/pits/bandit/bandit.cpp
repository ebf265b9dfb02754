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

Bandit::Bandit(std::string_view agent, const AgentSetup& setup, const BanditConfig& config)
    : Bandit(parse_spec(agent), setup, config) {}

Bandit::Bandit(Spec spec, const AgentSetup& setup, const BanditConfig& config)
    : setup_(setup), config_(checked(config)), retired_(setup.actions, 0) {
  if (!std::isfinite(static_cast<float>(config.default_reward))) {
    throw bad_input("default_reward must be a finite float, not {}", config.default_reward);
  }
  const auto recipe = find_recipe(agent_catalogue(), "agent", spec);
  spec_ = spelled_out(spec, *recipe);
  agent_ = recipe->make(setup);
}

std::string Bandit::describe() const { return spec_.text; }

Choice Bandit::decide(ContextView x, const ActionSet& actions) { return rank(x, 1, actions).front(); }

std::vector<Choice> Bandit::rank(ContextView x, std::size_t k, const ActionSet& actions) {
  rule().check(x, actions, k);  // before anything changes
  settle_overdue();
  const std::vector<Choice> choices = rule().rank(x, actions, k, pending_.next_id());
  for (const Choice& choice : choices) {
    pending_.add(choice.id, {{x.begin(), x.end()}, choice.action, features_of(actions, choice.action)});
  }
  return choices;
}

// The address of imagined draws moves with every round, whoever decides it, so that errors average out over them.
double Bandit::probabilities(ContextView x, std::span<float> p, const ActionSet& actions, std::uint64_t row) const {
  check_places(p, setup_.actions);
  return rule().probabilities(x, actions, pending_.next_id() + observed_ + row, p);
}

Action Bandit::add_actions(std::size_t n) {
  const auto first = static_cast<Action>(setup_.actions);
  agent_->add_actions(n);
  setup_.add_actions(n);
  retired_.resize(setup_.actions, 0);
  return first;
}

bool Bandit::retired(Action action) const {
  if (action >= setup_.actions) throw bad_input("an action must be below {}, not {}", setup_.actions, action);
  return retired_[action] != 0;
}

void Bandit::retire(Action action) {
  const auto left = std::ranges::count(retired_, 0);
  if (!retired(action) && left == 1) throw bad_input("action {} is the only one that is left", action);
  retired_[action] = 1;
}

void Bandit::settle_overdue() {
  while (config_.default_after > 0) {
    const auto late = pending_.overdue(static_cast<std::uint64_t>(config_.default_after));
    if (!late) return;
    try {
      settle(*late, *pending_.find(*late), static_cast<float>(config_.default_reward));
    } catch (const Error& e) {
      pending_.remove(*late);
      throw Error(e.kind(), fmt::format("the default_reward of decision {}: {}", *late, e.what()));
    }
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

void Bandit::learn(ContextView x, Action action, float reward, std::span<const float> z) {
  const Feedback event{.x = x, .action = action, .reward = reward, .z = z};
  agent_->learn({&event, 1});
  ++observed_;
}

// A decision whose reward is refused goes on waiting; one that failed to be learned does not, or it might count twice.
void Bandit::settle(DecisionId id, const PendingDecision& decision, float reward) {
  const Feedback event{.x = decision.x, .action = decision.action, .reward = reward, .id = id, .z = decision.z};
  try {
    agent_->learn({&event, 1});
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::input) pending_.remove(id);
    throw;
  }
  pending_.remove(id);
}

void Bandit::check(const LoggedRounds& rounds) const {
  const std::size_t n = rounds.contexts.rows();
  const auto fits = [n](std::size_t size) { return size == n; };
  if (rounds.features.size() > 0 && !rounds.propensities.empty()) {
    throw bad_input("what a bandit would have earned needs the features of all actions: give propensities or features");
  }
  if (rounds.features.size() > 0 && rounds.features.rows() != n) {
    throw bad_input("{} logged contexts need the features of as many actions, not {}", n, rounds.features.rows());
  }
  if (!fits(rounds.actions.size()) || !fits(rounds.rewards.size()) ||
      !(rounds.propensities.empty() || fits(rounds.propensities.size()))) {
    throw bad_input("{} logged contexts need as many actions and rewards, and as many propensities or none", n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    check_feedback({.x = rounds.contexts.row(i), .action = rounds.actions[i], .reward = rounds.rewards[i]}, setup_);
  }
  for (std::size_t i = 0; i < rounds.features.rows(); ++i) {
    if (std::ranges::all_of(rounds.features.row(i), [](float z) { return std::isfinite(z); })) continue;
    throw bad_input("the features of logged round {} are not finite", i);
  }
  for (const float p : rounds.propensities) {
    if (!(p > 0.0F && p <= 1.0F)) throw bad_input("a logged propensity must be above 0 and at most 1, not {}", p);
  }
}

std::optional<double> Bandit::fit(const LoggedRounds& rounds, const std::function<void()>& learned) {
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
    learn(rounds.contexts.row(i), action, rounds.rewards[i],
          rounds.features.size() == 0 ? std::span<const float>() : rounds.features.row(i));
    learned();
  }
  return weights > 0.0 ? std::optional(weighed / weights) : std::nullopt;
}

}  // namespace pits
