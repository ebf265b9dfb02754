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

void add_policy(LoggedData& data, const std::string& name, std::span<const double> probabilities) {
  const std::size_t K = data.K();
  if (probabilities.size() != data.rounds() * K) {
    throw bad_input("policy '{}' needs the probabilities of {} actions in {} rounds, and has {} numbers", name, K,
                    data.rounds(), probabilities.size());
  }
  for (std::size_t i = 0; i < data.rounds(); ++i) {
    double sum = 0.0;
    for (Action a = 0; a < K; ++a) {
      const double p = probabilities[i * K + a];
      if (!(p >= 0.0)) throw bad_input("policy '{}', round {}: a probability is {}", name, i + 1, p);
      if (p > 0.0 && !data.admits(i, a)) {
        throw bad_input("policy '{}', round {}: '{}' has the probability {} but is not allowed", name, i + 1,
                        data.action_names[a], p);
      }
      sum += p;
    }
    if (std::abs(sum - 1.0) > 1e-3) {
      throw bad_input("policy '{}', round {}: the probabilities sum to {:.6g}, not 1", name, i + 1, sum);
    }
  }
  std::erase_if(data.policies, [&](const LoggedPolicy& policy) { return policy.name == name; });
  data.policies.push_back({.name = name, .probabilities = {probabilities.begin(), probabilities.end()}});
}

}  // namespace pits
