// Rounds that some policy has played and logged: what an off-policy evaluation is computed from. One column per kind of
// value, in the order of the log.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pits/agent/query.h"
#include "pits/log/reward_range.h"

namespace pits {

// What a reader met beside the rounds that it kept.
struct LogCounts {
  std::uint64_t cold_start = 0;  // left out: certain decisions at the start, before the first one left to chance
  std::uint64_t certain = 0;     // kept: only one action was possible, so the round says nothing of others
  std::uint64_t expired = 0;     // kept: no reward came in time, and the default counts
  std::uint64_t estimated = 0;   // kept: propensities were estimated by simulated decisions
  std::uint64_t cancelled = 0;   // left out: never shown
  std::uint64_t waiting = 0;     // left out: without a reward yet
  std::uint64_t erased = 0;      // left out: the context was erased
  std::uint64_t dangling = 0;    // left out: rewards without a decision
  std::uint64_t restored = 0;    // left out: lost, and known only because rewards brought them back
  std::uint64_t unlogged = 0;    // decisions that the log does not have: it was too slow for them
};

// The probabilities of a policy that the log itself holds.
struct LoggedPolicy {
  std::string name;
  std::vector<double> probabilities{};  // (n,K)
};

struct LoggedData {
  std::vector<std::string> action_names{};   // (K)
  std::vector<std::string> context_names{};  // (d), or none
  std::size_t context_size = 0;              // d
  std::size_t action_features = 0;           // f
  std::vector<Action> actions{};             // (n)
  std::vector<double> rewards{};             // (n)
  std::vector<double> propensities{};        // (n) of the logged actions
  std::vector<float> contexts{};             // (n,d)
  std::vector<float> all_propensities{};     // (n,K) of every action, or none
  std::vector<std::uint8_t> allowed{};       // (n,K) or none: all are
  std::vector<float> features{};             // (n,K,f) of every action, or none
  std::vector<LoggedPolicy> policies{};
  std::vector<double> true_means{};  // (n,K) where a simulation knows them
  LogCounts counts{};
  std::optional<RewardRange> reward_range{};  // where the log has it, and all rewards are inside

  std::size_t rounds() const { return actions.size(); }
  std::size_t K() const { return action_names.size(); }
  ContextView x(std::size_t i) const { return {contexts.data() + i * context_size, context_size}; }
  ActionSet action_set(std::size_t i) const;
  bool admits(std::size_t i, Action a) const { return allowed.empty() || allowed[i * K() + a] != 0; }
  bool knows_all_propensities() const { return !all_propensities.empty(); }
  std::span<const float> propensities_of(std::size_t i) const { return {all_propensities.data() + i * K(), K()}; }
  // Whether every round was played uniformly among its allowed actions.
  bool uniform() const;
  Action action_named(std::string_view name) const;  // an unknown one gets a "did you mean"
  const LoggedPolicy& policy_named(std::string_view name) const;
};

// Probabilities (n,K) of a policy beside the log, from now on "column:NAME". Throws where a round's are none.
void add_policy(LoggedData& data, const std::string& name, std::span<const double> probabilities);

}  // namespace pits
