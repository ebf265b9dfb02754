#include "pits/bandit/bandit.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>

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

Bandit::Bandit(Spec spec, const AgentSetup& given, const BanditConfig& config) {
  serving_.config = checked(config);
  if (!std::isfinite(static_cast<float>(config.default_reward))) {
    throw bad_input("default_reward must be a finite float, not {}", config.default_reward);
  }
  const auto recipe = find_recipe(agent_catalogue(), "agent", spec);
  spec_ = spelled_out(spec, *recipe);
  AgentSetup setup = given;
  setup.floor = std::max(setup.floor, config.floor);
  try {
    serving_.agent = recipe->make(setup);
    serving_.retired.assign(setup.actions, 0);
    if (setup.actions == 0 && !serving_.agent->takes_features()) {
      throw bad_input("{} needs at least one action; only feature-ts takes candidates that come with each decision",
                      spec_.name);
    }
  } catch (const std::bad_alloc&) {
    throw failed(
        "an agent for {} numbers and {} actions does not fit into memory; it needs fewer actions or a shorter context",
        setup.context_size, setup.actions);
  } catch (const std::length_error&) {
    throw bad_input("an agent for {} numbers and {} actions is beyond any memory", setup.context_size, setup.actions);
  }
}

std::string Bandit::describe() const { return spec_.text; }

Choice Bandit::decide(ContextView x, const ActionSet& actions) { return rank(x, 1, actions).front(); }

std::vector<Choice> Bandit::rank(ContextView x, std::size_t k, const ActionSet& actions) {
  serving_.check(x, actions, k);  // before anything changes
  apply_defaults();
  const std::vector<Choice> choices = serving_.rank(x, actions, k, pending_.next_id());
  for (const Choice& choice : choices) {
    pending_.add(choice.id, {{x.begin(), x.end()}, choice.action, features_of(actions, choice.action)});
  }
  return choices;
}

double Bandit::probabilities(ContextView x, std::span<float> p, const ActionSet& actions, std::uint64_t row) const {
  return serving_.probabilities(x, actions, pending_.next_id(), row, p);
}

Action Bandit::add_actions(std::size_t n) {
  const auto first = static_cast<Action>(setup().actions);
  serving_.agent->add_actions(n);
  serving_.retired.resize(setup().actions, 0);
  return first;
}

bool Bandit::retired(Action action) const {
  if (action >= setup().actions) throw bad_input("an action must be below {}, not {}", setup().actions, action);
  return serving_.retired[action] != 0;
}

void Bandit::retire(Action action) {
  const auto left = std::ranges::count(serving_.retired, 0);
  if (!retired(action) && left == 1) throw bad_input("action {} is the only one that is left", action);
  serving_.retired[action] = 1;
}

void Bandit::apply_defaults() {
  while (serving_.config.default_after > 0) {
    const auto late = pending_.overdue(static_cast<std::uint64_t>(serving_.config.default_after));
    if (!late) return;
    try {
      apply_reward(*late, *pending_.find(*late), static_cast<float>(serving_.config.default_reward));
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
    apply_reward(outcome.id, *decision, outcome.reward);
    ++learned;
  }
  return learned;
}

void Bandit::learn(const Feedback& event) { serving_.agent->learn({&event, 1}); }

void Bandit::learn(ContextView x, Action action, float reward, std::span<const float> z) {
  learn(Feedback{.x = x, .action = action, .reward = reward, .z = z});
  ++serving_.observed;
}

// A decision whose reward is refused goes on waiting; one that failed to be learned does not, or it might count twice.
void Bandit::apply_reward(DecisionId id, const PendingDecision& decision, float reward) {
  const Feedback event{.x = decision.x, .action = decision.action, .reward = reward, .id = id, .z = decision.z};
  try {
    serving_.agent->learn({&event, 1});
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
    agent().check(Feedback{.x = rounds.contexts.row(i), .action = rounds.actions[i], .reward = rounds.rewards[i]});
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
  std::vector<float> p(setup().actions);
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
