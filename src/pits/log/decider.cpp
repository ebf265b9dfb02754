#include "pits/log/decider.h"

#include "pits/agent/together.h"
#include "pits/core/beginning.h"
#include "pits/log/live_config.h"

namespace pits {

Decider::Decider(Created created, ServingPolicy policy, EventNumber number, NextId next_id)
    : created_(std::move(created)),
      next_id_(std::move(next_id)),
      gains_together_(dynamic_cast<const DecidesTogether*>(policy.agent.get()) != nullptr),
      published_(std::make_unique<Published>(Published{std::move(policy), number})),
      names_(std::make_unique<ActionNames>()) {
  if (!created_.schema.empty()) schema_.emplace(created_.schema);
  publish_names(created_.actions);
}

void Decider::make(ContextView x, const ActionSet& actions, const DecisionLabels& labels, std::vector<Action>* ranking,
                   bool wait, Decided& made) {
  made.clear();
  published_.read([&](const Published& by) {
    ActionSet set = actions;
    const std::vector<std::uint8_t> mask = mask_of(labels.allowed, by.policy.retired.size());
    if (!mask.empty() && !set.allowed.empty()) throw bad_input("allowed actions are given by names or by a mask");
    if (!mask.empty()) set.allowed = mask;
    by.policy.check(x, set, 1);
    decide(x, set, next_id_(wait), by, ranking, made);
    return 0;
  });
  made.key = labels.key;
  made.context = labels.context;
  ++made_;
}

// Contexts that do not fit are left to make(), which says so.
std::shared_ptr<void> Decider::prepare(std::span<const ContextView> contexts, const Published& by) const {
  const auto* agent = dynamic_cast<const DecidesTogether*>(by.policy.agent.get());
  if (agent == nullptr) return nullptr;
  std::vector<ContextView> fitting;
  for (const ContextView& x : contexts) {
    if (x.size() == by.policy.agent->setup().context_size) fitting.push_back(x);
  }
  return agent->prepare(fitting);
}

void Decider::decide(ContextView x, const ActionSet& actions, DecisionId id, const Published& by,
                     std::vector<Action>* ranking, Decided& made) {
  made.id = id;
  made.model = by.number;
  made.engine = by.engine;
  made.x.assign(x.begin(), x.end());
  made.allowed.assign(actions.allowed.begin(), actions.allowed.end());
  made.features.assign(actions.features.data(), actions.features.data() + actions.features.size());
  made.floor = static_cast<float>(by.policy.config.floor);
  made.propensities.resize(actions.size(by.policy.retired.size()));
  made.propensity_error =
      static_cast<float>(by.policy.probabilities(x, actions, id, 0, made.propensities, &made.action));
  if (ranking != nullptr) {
    ranking->clear();
    for (const Choice& choice : by.policy.rank(x, actions, made.propensities.size(), id)) {
      ranking->push_back(choice.action);
    }
  }
}

std::vector<float> Decider::encode(std::string_view context) const {
  if (!schema_) throw bad_input("the bandit has no schema of named contexts: a context is a vector of numbers");
  return schema_->encode(context);
}

double Decider::probabilities(ContextView x, const ActionSet& actions, DecisionId id, std::span<float> p) const {
  return published_.read([&](const Published& by) { return by.policy.probabilities(x, actions, id, 0, p); });
}

// What is replaced is written over next time: copies of agents are large, and memory that comes and goes slows every
// thread down.
void Decider::publish(const ServingPolicy& policy, EventNumber number, const std::string& learned_by) {
  const std::scoped_lock lock(publishing_);
  if (number < model()) return;
  std::unique_ptr<Published> next = std::move(spare_);
  if (next) {
    next->policy.assign(policy);
    next->number = number;
  } else {
    next = std::make_unique<Published>(Published{policy.copy(), number});
  }
  const std::string here = engine_name();
  next->engine = learned_by.empty() || learned_by == here ? "" : here;
  spare_ = published_.publish(std::move(next));
}

EventNumber Decider::model() const {
  return published_.read([](const Published& by) { return by.number; });
}

// Names are there before the policy has learned of their actions: an action is one of the K that decisions know.
Action Decider::ActionNames::find(std::string_view name, std::size_t K) const {
  const auto found = index.find(name);
  if (found != index.end() && found->second < K) return found->second;
  constexpr std::size_t most = 50;
  const std::string_view shown = beginning(name);
  if (K > most || shown != name) throw bad_input("there is no action '{}'", shown);
  throw unknown_name("action", name, first(K));
}

std::vector<std::string> Decider::ActionNames::first(std::size_t K) const {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(K, all.size()))};
}

void Decider::publish_names(const std::vector<std::string>& all) {
  auto names = std::make_unique<ActionNames>();
  names->all = all;
  for (Action a = 0; a < all.size(); ++a) names->index.emplace(all[a], a);
  const std::scoped_lock lock(naming_);
  names_.publish(std::move(names));
}

std::size_t Decider::action_count() const {
  return published_.read([](const Published& by) { return by.policy.retired.size(); });
}

std::vector<std::uint8_t> Decider::mask_of(const std::vector<std::string>& allowed, std::size_t K) const {
  if (allowed.empty()) return {};
  std::vector<std::uint8_t> mask(K, 0);
  names_.read([&](const ActionNames& names) {
    for (const std::string& name : allowed) mask[names.find(name, K)] = 1;
    return 0;
  });
  return mask;
}

std::vector<std::string> Decider::actions() const {
  return names_.read([K = action_count()](const ActionNames& names) { return names.first(K); });
}

std::vector<std::uint8_t> Decider::retired() const {
  return published_.read([](const Published& by) { return by.policy.retired; });
}

Action Decider::action(std::string_view name) const {
  return names_.read([&, K = action_count()](const ActionNames& names) { return names.find(name, K); });
}

std::string Decider::name(Action action) const {
  return names_.read([&, K = action_count()](const ActionNames& names) {
    if (action < K && action < names.all.size()) return names.all[action];
    throw bad_input("an action must be below {}, not {}", K, action);
  });
}

}  // namespace pits
