// What agents share that give every action a value and play the best: forced pulls first, and a policy that keeps the
// values' function after the agent has gone on.
#pragma once

#include <memory>
#include <utility>

#include "pits/agent/agent.h"

namespace pits {

// Where an agent stands.
struct Stage {
  AgentSetup setup;
  int initial_pulls;
  std::uint64_t events;  // learned so far
  bool random = true;    // whether values are drawn; the best of values that are not has propensity 1
};

// values(x, stream, out) writes the value of every action, out (K); it may draw from the decision's stream.
template <class Values>
Decision play_best(const Stage& stage, const Query& query, const Values& values) {
  const std::size_t K = stage.setup.actions;
  check_query(query, stage.setup);
  if (const auto forced = forced_pull(stage.events, stage.initial_pulls, query, stage.setup.first_actions()))
    return *forced;
  Stream stream = decision_stream(stage.setup, query);
  thread_local std::vector<float> out;
  out.resize(K);
  values(query.x, stream, std::span<float>(out));
  return {.action = best_action(out, query.actions),
          .propensity = query.want_propensity && !stage.random ? std::optional(1.0F) : std::nullopt};
}

template <class Values>
class FrozenValues final : public Policy {
 public:
  FrozenValues(const Stage& stage, Values values) : stage_(stage), values_(std::move(values)) {}
  Decision choose(const Query& query) const override { return play_best(stage_, query, values_); }

 private:
  Stage stage_;
  Values values_;
};

// A policy that owns what `values` needs.
template <class Values>
std::unique_ptr<const Policy> frozen(const Stage& stage, Values values) {
  return std::make_unique<FrozenValues<Values>>(stage, std::move(values));
}

}  // namespace pits
