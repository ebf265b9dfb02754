#include "pits/evaluate/logged_data.h"

#include <algorithm>
#include <cmath>

#include "pits/core/error.h"

namespace pits {

ActionSet LoggedData::action_set(std::size_t i) const {
  ActionSet set;
  if (!allowed.empty()) set.allowed = {allowed.data() + i * K(), K()};
  if (action_features > 0) {
    set.features = {features.data() + i * K() * action_features, K(), action_features};
  }
  return set;
}

bool LoggedData::uniform() const {
  for (std::size_t i = 0; i < rounds(); ++i) {
    const double even = 1.0 / static_cast<double>(action_set(i).count(K()));
    if (std::abs(propensities[i] - even) > 1e-6) return false;
  }
  return true;
}

Action LoggedData::action_named(std::string_view name) const {
  const auto found = std::ranges::find(action_names, name);
  if (found == action_names.end()) throw unknown_name("action", name, action_names);
  return static_cast<Action>(found - action_names.begin());
}

const LoggedPolicy& LoggedData::policy_named(std::string_view name) const {
  std::vector<std::string> names;
  for (const LoggedPolicy& policy : policies) {
    if (policy.name == name) return policy;
    names.push_back(policy.name);
  }
  if (names.empty()) throw bad_input("the log has no columns of a policy '{}': no probabilities stand beside it", name);
  throw unknown_name("policy of the log", name, names);
}

}  // namespace pits
