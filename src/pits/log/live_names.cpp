// A live bandit in its caller's words: named contexts and named actions.
#include "pits/log/live_bandit.h"

namespace pits {

std::vector<float> LiveBandit::encode(std::string_view context) const {
  if (!schema_) throw bad_input("the bandit has no schema of named contexts: a context is a vector of numbers");
  return schema_->encode(context);
}

Choice LiveBandit::decide(std::string_view context, const ActionSet& actions, DecisionLabels labels) {
  labels.context = context;
  return decide(ContextView(encode(context)), actions, labels);
}

Decided LiveBandit::make(std::string_view context, const ActionSet& actions, DecisionLabels labels,
                         std::vector<Action>* ranking) {
  labels.context = context;
  return make(ContextView(encode(context)), actions, labels, ranking);
}

// Names are there before the policy has learned of their actions: an action is one of the K that decisions know.
Action LiveBandit::ActionNames::find(std::string_view name, std::size_t K) const {
  const auto found = index.find(name);
  if (found != index.end() && found->second < K) return found->second;
  constexpr std::size_t most = 50, longest = 60;
  if (K > most || name.size() > longest) throw bad_input("there is no action '{}'", name.substr(0, longest));
  throw unknown_name("action", name, first(K));
}

std::vector<std::string> LiveBandit::ActionNames::first(std::size_t K) const {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(K)};
}

void LiveBandit::publish_names(const std::vector<std::string>& all) {
  auto names = std::make_unique<ActionNames>();
  names->all = all;
  for (Action a = 0; a < all.size(); ++a) names->index.emplace(all[a], a);
  names_.publish(std::move(names));
}

std::size_t LiveBandit::action_count() const {
  return published_.read([](const Published& by) { return by.policy.retired.size(); });
}

std::vector<std::uint8_t> LiveBandit::mask_of(const std::vector<std::string>& allowed, std::size_t K) const {
  if (allowed.empty()) return {};
  std::vector<std::uint8_t> mask(K, 0);
  names_.read([&](const ActionNames& names) {
    for (const std::string& name : allowed) mask[names.find(name, K)] = 1;
    return 0;
  });
  return mask;
}

std::vector<std::string> LiveBandit::actions() const {
  return names_.read([K = action_count()](const ActionNames& names) { return names.first(K); });
}

std::vector<std::uint8_t> LiveBandit::retired() const {
  return published_.read([](const Published& by) { return by.policy.retired; });
}

Action LiveBandit::action(std::string_view name) const {
  return names_.read([&, K = action_count()](const ActionNames& names) { return names.find(name, K); });
}

std::string LiveBandit::name(Action action) const {
  return names_.read([&, K = action_count()](const ActionNames& names) {
    if (action < K) return names.all[action];
    throw bad_input("an action must be below {}, not {}", K, action);
  });
}

}  // namespace pits
